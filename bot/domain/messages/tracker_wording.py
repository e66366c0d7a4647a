"""What the person reads who started a roundtable on an issue, or on files, that could not be read."""


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

# --- files of the workspace; models that look at code read the same ---------------------------------------------------

NO_PATH = "A path is relative to the top of the repository, without `..`."
NOT_FOR_GUESTS = "Only members of this workspace can start on a file of the repository."


def of_items(path: str) -> str:
    return f"{path} belongs to the items: type the name of the item instead."


def secret(path: str) -> str:
    return f"{path} may hold secrets, and is not shown."


def symbolic_link(path: str) -> str:
    return f"{path} is a symbolic link, which is not followed."


def not_committed(path: str) -> str:
    return f"{path} is not tracked at the newest commit."


def no_file(path: str) -> str:
    return f"{path} is no file."


def too_large(path: str, most: int) -> str:
    size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most // 1024} KiB"
    return f"{path} is larger than {size}."


def no_text(path: str) -> str:
    return f"{path} is not a text."


def no_markdown(path: str) -> str:
    return f"{path} is no Markdown file. I read `.md` files, and folders of OpenSpec, spec-kit and Kiro."


def no_specification(path: str) -> str:
    needed = "`proposal.md`, `spec.md` or `requirements.md`"
    return f"{path} is no folder of OpenSpec, spec-kit or Kiro: it has no {needed}."
