"""The forms of tokens: each is found wherever it stands, and no pattern can keep the bot busy."""

import random
import re
from collections.abc import Iterator
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from bot.domain.privacy.redaction import Redactor
from bot.domain.privacy.rules import (
    FORM_RUN,
    FORMATS,
    KNOWN_FORMS,
    MAKERS,
    MARKED_LATER,
    RULES,
    Format,
    RedactionRule,
)

SEED = 10
MOST_AT_A_PLACE = 20_000
"""Characters that a pattern may look at where it begins, in the worst case; the last run is taken only once."""
MARKED = [Format(kind, ("",), pattern) for kind, _hint, pattern in MARKED_LATER]
SENTENCES = (
    "{}", "it is {}, ok?", "`{}`", "```\nexport KEY={}\n```", '{{"key": "{}"}}', "<{}>",
    "https://example.com/x?y={}#z", "ключ {} и всё", "鍵は{}です", "“{}”",
)  # fmt: skip


def written(pattern: str, chance: random.Random) -> str:
    """Something that *pattern* matches, as short as it may be: examples are made here, so none is in the repository."""
    return "".join(_written(parser.parse(pattern), chance))


def _written(tree: Any, chance: random.Random) -> Iterator[str]:
    for kind, what in tree:
        if kind is kinds.LITERAL:
            yield chr(what)
        elif kind is kinds.IN:
            yield chance.choice([one for part in what for one in _of(part)])
        elif kind in {kinds.MAX_REPEAT, kinds.POSSESSIVE_REPEAT}:
            least, _most, part = what
            for _ in range(least):
                yield from _written(part, chance)
        elif kind is kinds.SUBPATTERN:
            yield from _written(what[3], chance)
        elif kind is kinds.BRANCH:
            yield from _written(what[1][0], chance)
        else:
            assert kind in {kinds.ASSERT, kinds.ASSERT_NOT, kinds.AT}, kind


def _of(part: Any) -> str:
    kind, what = part
    if kind is kinds.RANGE:
        return "".join(map(chr, range(what[0], what[1] + 1)))
    assert kind is kinds.LITERAL
    return chr(what)


def examples(form: Format) -> Iterator[str]:
    chance = random.Random(SEED)
    for beginning in form.beginnings:
        token = beginning + written(form.rest, chance)
        while form.digit and not any(one.isdigit() for one in token[len(beginning) :]):
            token = beginning + written(form.rest, chance)
        yield token


@pytest.mark.parametrize("form", [*FORMATS, *MARKED], ids=lambda form: f"{form.kind} {form.beginnings[0]}")
def test_a_token_of_a_known_form_is_hidden(form: Format) -> None:
    """In sentences of any script, code, JSON and addresses, and nothing else of them is changed."""
    redact = Redactor()
    for token in examples(form):
        for sentence in SENTENCES:
            text, found = redact(sentence.format(token))
            assert found, sentence
            assert token not in text
            before, after = sentence.format("\0").split("\0")
            assert text.startswith(before.partition(".com/")[0])
            assert text.endswith(after)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_key_is_known_by_the_name_of_its_maker(maker: str) -> None:
    """Such keys have no beginning of their own; hashes and ids beside the same names stay."""
    redact = Redactor()
    key, sha, uuid = "k3" * 14 + "z", "4fb10c5e" * 5, "550e8400-e29b-41d4-a716-446655440000"

    assert redact(f'{maker.upper()}_CONFIG="{key}"').text == f'{maker.upper()}_CONFIG="[redacted:secret]"'
    assert redact(f"{maker}_app = {key}").kinds == ("secret",)
    for text in (
        f"{maker}_commit = {sha}",
        f"{maker}_app: {uuid}",
        f"{maker}-release=my-own-release-2024-10-11",
    ):
        assert redact(text) == (text, ())


@pytest.mark.parametrize("rule", [*KNOWN_FORMS, *RULES], ids=lambda rule: f"{rule.kind} {rule.hints[0]}")
def test_no_pattern_takes_more_than_its_share(rule: RedactionRule) -> None:
    """
    By its structure: no run inside of a run that can give back, and none that is unbounded except where nothing can
    fail any more, or where it gives nothing back.
    """
    if rule is RULES[0]:
        return  # three runs in one another, which give nothing back; its time is measured in test_redaction.py
    tree = parser.parse(rule.pattern.pattern, rule.pattern.flags & ~re.UNICODE)

    assert _cost(list(tree), is_last=True) <= MOST_AT_A_PLACE


def _cost(tree: list[Any], *, is_last: bool) -> int:
    """How often characters are looked at from one place, at most. Asserts that there is a bound."""
    total, ways = 0, 1
    for number, (kind, what) in enumerate(tree):
        last = is_last and number == len(tree) - 1
        if kind in {kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT}:
            least, most, part = what
            gives_back = kind is not kinds.POSSESSIVE_REPEAT and least != most
            inner = _cost(list(part), is_last=False)
            rest = tree[number + 1 :]
            if most is kinds.MAXREPEAT:
                assert not gives_back or last or _cannot_fail(rest), "an unbounded run that can give back"
                assert not _is_variable(part), "a run in an unbounded run"
                most = least
            assert not (gives_back and most > 1 and _is_variable(part)), "a run in a run that can give back"
            total += ways * max(most, 1) * inner
            ways *= most - least + 1 if gives_back and not last else 1
        elif kind is kinds.SUBPATTERN:
            total += ways * _cost(list(what[3]), is_last=last)
            ways *= _ways(what[3]) if not last else 1
        elif kind is kinds.BRANCH:
            total += ways * sum(_cost(list(one), is_last=last) for one in what[1])
        else:
            total += ways
    return total


def _ways(tree: Any) -> int:
    ways = 1
    for kind, what in tree:
        if kind in {kinds.MAX_REPEAT, kinds.MIN_REPEAT} and what[1] is not kinds.MAXREPEAT:
            ways *= what[1] - what[0] + 1
    return ways


def _is_variable(tree: Any) -> bool:
    repeats = {kinds.MAX_REPEAT, kinds.MIN_REPEAT}
    return any(
        (kind in repeats and what[0] != what[1]) or (kind is kinds.SUBPATTERN and _is_variable(what[3]))
        for kind, what in tree
    )


def _cannot_fail(tree: list[Any]) -> bool:
    """What follows a run may be missing."""
    repeats = {kinds.MAX_REPEAT, kinds.POSSESSIVE_REPEAT}
    return all(kind in repeats and what[0] == 0 for kind, what in tree)


def test_what_is_looked_for_only_in_long_words_has_one() -> None:
    """Most sentences are spared the forms by it, so no form may be shorter."""
    for form in (*FORMATS, *MARKED):
        for token in examples(form):
            assert FORM_RUN.search(token), form
