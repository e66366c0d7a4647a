"""docs/sentences.md has every sentence that people can see in Slack, so that a reviewer reads them in one place."""

from scripts import sentences


def test_the_page_of_sentences_is_up_to_date() -> None:
    """`scripts/sentences` writes it."""
    assert sentences.PAGE.read_text(encoding="utf-8") == sentences.page(), "run scripts/sentences"


def test_a_sentence_of_the_code_is_found_with_its_placeholders() -> None:
    """Also of a module that somebody adds; documentation, logs and assertions are left out."""
    page = sentences.page()

    assert "- No role lacks anything that is looked for." in page
    assert "- {person} started a roundtable on {title}." in page
    assert "What the step of the plan asks" not in page
    assert "a question opens it" not in page
