"""`ITEM/ID`: how an entry is named, and what is said to a person who names none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.specification.address import CITED, EntryAddress, names_entry, read_address
from bot.errors import UserError

ITEMS = ("offline-sync", "rate-limiting", "REQ-0027_Export")
SLUGS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", fullmatch=True)
IDS = st.from_regex(r"[A-Z]{1,4}-[0-9]{3,4}(?:-[0-9]{2,3})?", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("rate-limiting/FR-001", "rate-limiting/FR-001"),
        (" rate-limiting/fr-1 ", "rate-limiting/FR-001"),
        ("rate-limiting/AC–1–2", "rate-limiting/AC-001-02"),
        ("REQ-0027_Export/DEC-012", "REQ-0027_Export/DEC-012"),
        ("rate-limiting", "rate-limiting"),
    ],
)
def test_an_address_is_read_as_people_write_it(text: str, address: str) -> None:
    assert str(read_address(text, ITEMS)) == address


def test_an_id_alone_belongs_to_the_item_of_the_thread_or_to_the_only_one() -> None:
    assert read_address("FR-001", ITEMS, "offline-sync") == EntryAddress("offline-sync", "FR-001")
    assert read_address("Q-2", ["rate-limiting"]) == EntryAddress("rate-limiting", "Q-002")


def test_an_item_that_is_called_like_an_id_is_an_item() -> None:
    assert read_address("fr-1", ["fr-1", "other"]) == EntryAddress("fr-1")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rate-limitng/FR-001", "There is no item 'rate-limitng'. Did you mean rate-limiting?"),
        ("docs/exports/plan", "There is no item 'docs/exports/plan'."),
        ("exports", "There is no item 'exports'."),
        ("FR-001", "FR-001 could be in 3 items. Write ITEM/FR-001."),
        ("rate-limiting/first", "'first' is not the id of an entry, such as FR-001."),
        ("rate-limiting/", "'' is not the id of an entry, such as FR-001."),
        ("rate-limiting/FR-001/AC-001-01", "'FR-001/AC-001-01' is not the id of an entry, such as FR-001."),
        ("x" * 100_000, f"There is no item '{'x' * 80}'."),
    ],
)
def test_what_names_nothing_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError) as error:
        read_address(text, ITEMS)

    assert str(error.value) == sentence


def test_an_id_alone_without_any_item() -> None:
    with pytest.raises(UserError, match=r"^There are no items yet\.$"):
        read_address("FR-001", ())


@given(SLUGS, IDS)
def test_every_address_is_found_again_in_a_text(slug: str, id: str) -> None:
    address = str(EntryAddress(slug, id))

    assert CITED.findall(f"# See {address}, and {id}.") == [(slug, id), ("", id)]
    assert str(read_address(address, [slug])) == address
    assert names_entry(address)


@pytest.mark.parametrize("text", ["a/b/FR-001", "FRXXX-001", "FR-001-", "FR-0012345", "-FR-001"])
def test_a_path_or_a_longer_word_cites_nothing(text: str) -> None:
    assert CITED.findall(text) == []
