"""What a mind is asked, made of a roundtable and nothing else: the same roundtable gives the same prompt, always."""
