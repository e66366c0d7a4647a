"""What the person reads who started a roundtable on an issue that could not be read."""


def not_set_up(reference: str) -> str:
    return f"I have not read {reference}: no key for GitHub is set (ROUNDTABLE_GITHUB_KEY)."


def no_answer(reference: str) -> str:
    return f"I have not read {reference}: GitHub gave no usable answer in time."


def pull_request(reference: str) -> str:
    return f"I have not read {reference}: it is a pull request, not an issue."


def other_host(reference: str, host: str) -> str:
    return f"I have not read {reference}: I read issues of {host} only."


def refused(reference: str, status: int) -> str:
    return f"I have not read {reference}: {_WHY.get(status, f'GitHub refused it ({status}).')}"


_WHY = {
    401: "GitHub does not accept the key that is set.",
    403: "GitHub does not allow it with the key that is set, or asks to wait.",
    404: "there is no such issue, or the key that is set may not see it.",
    410: "the issue was deleted.",
    429: "GitHub asks to wait.",
}
