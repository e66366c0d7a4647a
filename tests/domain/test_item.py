import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.item.item import (
    SHORT_TITLE_CHARS,
    SLUG_CHARS,
    UNTITLED,
    Item,
    KnownItem,
    backlog_title,
    detect_source,
    draft,
    folders_of,
    generate_slug,
    is_surely_path,
    item_from,
    path_in,
    resolve,
    suffixed,
    title_of,
)
from bot.domain.values.markdown import outline

BACKLOG = """\
# Backlog
## Open
- 3.1 [ ] Dark mode for the dashboard
- 3.2 [~] Offline sync
  - 3.3 [A] Export, as CSV
- 3.4 [x] Dark launch
- 3.5 [?] Not an item
- 3.6 Not an item either
"""
KNOWN = (
    KnownItem(slug="dark-mode-for-the-dashboard", title="Dark mode for the dashboard"),
    KnownItem(slug="REQ-0027-offline-sync", title="Sync", source_id="GH-42"),
    KnownItem(slug="gh-420", title="GH-420", source_id="GH-420"),
    KnownItem(slug="proj-12", title="PROJ-12", source_id="PROJ-12"),
    KnownItem(slug="my-export-as-csv-file", title="Night shift"),
)


class TestTitles:
    @pytest.mark.parametrize(
        ("message", "title"),
        [
            (
                "Rate limiting of the API. We need it by May, and legal asked twice.",
                "Rate limiting of the API",
            ),
            ("\n  Dark mode for ward 7\nbecause of the nights", "Dark mode for ward 7"),
            ("Can we limit the API? It falls over.", "Can we limit the API?"),
            ("Hi all! We lose edits in tunnels. Every week.", "Hi all! We lose edits in tunnels"),
            (
                "Support v2.0 of the export, e.g. for audits. Soon.",
                "Support v2.0 of the export, e.g. for audits",
            ),
            ("Wir brauchen Grenzen für die API. Bis Mai.", "Wir brauchen Grenzen für die API"),
            ("编辑会丢失，每周都有人抱怨。我们需要离线模式。", "编辑会丢失，每周都有人抱怨。"),
            ("Who knows...", "Who knows..."),
            (" \n ", ""),
        ],
    )
    def test_the_title_of_a_message_is_its_first_sentence(self, message: str, title: str) -> None:
        """Not the whole message, which people write in one line."""
        assert title_of(message) == title

    def test_a_long_sentence_is_shortened_between_words(self) -> None:
        """A title is read in lists and in the names of folders."""
        title = title_of("We should limit how often each client may call the public API " * 5)

        assert len(title) <= SHORT_TITLE_CHARS
        assert title == "We should limit how often each client may call the public API We should limit…"


class TestFolders:
    """Real folders are named by other tools: 169 of 179 have capitals, most an id."""

    REAL = tuple(
        KnownItem(slug=slug)
        for slug in (
            "Rate-Limiting",
            "GH-21_Something",
            "GH-210_Something else",
            "REQ-0027-gh-20-Roundtable Analyst",
            "REQ-0031-offline-sync",
            "api-export",
            "Größe",
        )
    )

    @pytest.mark.parametrize(
        ("typed", "slug"),
        [
            ("rate-limiting", "Rate-Limiting"),
            ("RATE-LIMITING", "Rate-Limiting"),
            ("Rate limiting", "Rate-Limiting"),
            ("GH-21_Something", "GH-21_Something"),
            ("gh-21_something", "GH-21_Something"),
            ("GH-21 something", "GH-21_Something"),
            ("Something", "GH-21_Something"),
            ("#21", "GH-21_Something"),
            ("gh-21", "GH-21_Something"),
            ("GH-210", "GH-210_Something else"),
            ("#20", "REQ-0027-gh-20-Roundtable Analyst"),
            ("Roundtable Analyst", "REQ-0027-gh-20-Roundtable Analyst"),
            ("Offline sync", "REQ-0031-offline-sync"),
            ("req-0031", "REQ-0031-offline-sync"),
            ("größe", "Größe"),
            ("api_EXPORT", "api-export"),
        ],
    )
    def test_starting_means_the_folder_that_is_there(self, typed: str, slug: str) -> None:
        """In any case, with an id in front of it, and by its id alone."""
        assert folders_of(item_from(typed), self.REAL) == (slug,)

    @pytest.mark.parametrize("typed", ["Export", "#2", "GH-2", "limiting", "Analyst", "日本語", "Sync"])
    def test_other_words_are_a_new_item(self, typed: str) -> None:
        """A word at the end of a name is not its name."""
        assert folders_of(item_from(typed), self.REAL) == ()

    def test_the_end_of_a_slug_with_hyphens_is_a_reference(self) -> None:
        """As with `resume`: nobody writes a title with hyphens alone."""
        known = (KnownItem(slug="team-a-Dark-Mode"),)

        assert folders_of(item_from("dark-mode"), known) == ("team-a-Dark-Mode",)
        assert folders_of(item_from("Dark mode"), known) == ()

    def test_several_that_fit_are_to_choose_from(self) -> None:
        """And the one that is spelt like this comes before others."""
        known = (KnownItem(slug="GH-1-dark-mode"), KnownItem(slug="GH-2-dark-mode"))

        assert folders_of(item_from("Dark mode"), known) == ("GH-1-dark-mode", "GH-2-dark-mode")
        assert folders_of(
            item_from("Dark-Mode"), (KnownItem(slug="dark-mode"), KnownItem(slug="Dark-Mode"))
        ) == ("Dark-Mode",)


class TestSlugs:
    @pytest.mark.parametrize(
        ("text", "slug"),
        [
            ("Dark Mode!", "dark-mode"),
            ("  a\t b\n c ", "a-b-c"),
            ("--a -- b--", "a-b"),
            ("Größe & Maß", "gre-ma"),
            ("../../etc/passwd", "etcpasswd"),
            (".git", "git"),
            ("", UNTITLED),
            ("日本語 🎉", UNTITLED),
            ("x" * 300, "x" * 50),
        ],
    )
    def test_a_slug_is_made_as_the_original_does(self, text: str, slug: str) -> None:
        """Lower case, ASCII letters, digits and single hyphens, at most 50 characters."""
        assert generate_slug(text) == slug

    @pytest.mark.parametrize("device", ["CON", "nul", "Com1", "lpt9"])
    def test_devices_of_windows_are_no_folders(self, device: str) -> None:
        """They get a prefix, so that the workspace can be cloned on any system."""
        assert generate_slug(device) == f"item-{device.lower()}"

    @given(st.text())
    def test_any_text_makes_a_harmless_folder_name(self, text: str) -> None:
        """C1: nothing can leave the items folder, hide in it or be a device."""
        slug = generate_slug(text)

        assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", slug)
        assert slug not in {"con", "prn", "aux", "nul"}


class TestItems:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (" #42 ", ("github", "GH-42")),
            ("Acme/api#42", ("github", "acme/api#42")),
            ("https://github.com/acme/api/issues/42", ("github", "acme/api#42")),
            ("https://github.com/acme/api/pull/42/files?w=1", ("github", "acme/api#42")),
            ("<https://github.com/acme/api/issues/42#issuecomment-1|x>", ("github", "acme/api#42")),
            ("https://github.com/acme/api", ("manual", None)),
            ("see https://github.com/acme/api/issues/42", ("manual", None)),
            ("PROJ-12", ("jira", "PROJ-12")),
            ("proj-12", ("manual", None)),
            ("#42 dark mode", ("manual", None)),
            ("#٤٢", ("manual", None)),
            ("", ("manual", None)),
        ],
    )
    def test_references_are_told_from_words(self, text: str, expected: tuple[str, str | None]) -> None:
        """Only a text that is nothing but a number, a key or an address points to an issue."""
        assert detect_source(text) == expected

    @pytest.mark.parametrize(
        ("words", "item"),
        [
            ("#42", Item(slug="gh-42", title="GH-42", source="github", source_id="GH-42")),
            ("PROJ-12", Item(slug="proj-12", title="PROJ-12", source="jira", source_id="PROJ-12")),
            ("  Dark\n mode\x00 \u202efor all ", Item(slug="dark-mode-for-all", title="Dark mode for all")),
            ("\x00", Item(slug="untitled-item", title="Untitled item")),
        ],
    )
    def test_an_item_is_named_by_its_issue_or_by_words(self, words: str, item: Item) -> None:
        """The slug is in lower case; words are one line, without what is invisible."""
        assert item_from(words) == item

    @pytest.mark.parametrize("named", ["acme/api#42", "<https://github.com/acme/api/issues/42>"])
    def test_an_issue_with_its_repository_is_kept_as_it_was_named(self, named: str) -> None:
        """The name of the item is short, and `draft.md` says which issue it is."""
        item = item_from(named)

        assert (item.slug, item.title, item.source_id) == ("gh-acme_api-42", "acme/api#42", "acme/api#42")
        assert item.reference == named.strip("<>")
        assert f"- **Source**: github acme/api#42, {named}\n" in draft(item, started_by="ada", at="now")

    def test_issues_of_two_repositories_are_two_items(self) -> None:
        """Also where hyphens, dots, capitals or the end of a long name are all that tells them apart."""
        long = "a" * 60
        hyphens = ("a-b/c#1", "a/b-c#1", "a/b.c#1", "a/b_c#1")
        cut = (f"{long}/api#42", f"{long}/web#42", f"{long}/api#4")
        named = ("acme/api#42", "acme/web#42", "acme/ap#142", *hyphens, *cut, "#42")
        items = [item_from(one) for one in named]
        known = [KnownItem(slug=one.slug, title=one.title, source_id=one.source_id) for one in items]

        assert len({one.slug for one in items}) == len(named)
        assert all(len(one.slug) <= SLUG_CHARS for one in items)
        assert [folders_of(one, known) for one in items] == [(one.slug,) for one in items]
        assert [resolve(one, known) for one in named[:-1]] == [(one.slug,) for one in items[:-1]]
        assert item_from("ACME/API#42") == item_from("acme/api#42").but(reference="ACME/API#42")

    def test_a_number_alone_may_be_an_issue_of_any_repository(self) -> None:
        """People choose, or there is only one. A new item is made of it all the same."""
        known = [KnownItem(slug=one, source_id=f"acme/{one}#42") for one in ("api", "web")]

        assert resolve("#42", known) == ("api", "web")
        assert resolve("#42", known[:1]) == ("api",)
        assert folders_of(item_from("#42"), known) == ()

    @pytest.mark.parametrize(
        ("text", "path", "is_sure"),
        [
            (" `docs/prd.md` ", "docs/prd.md", True),
            ("docs/http://prd.md", "docs/prd.md", True),
            ("README.md", "README.md", True),
            ("openspec/changes", "openspec/changes", True),
            ("src/app", "src/app", False),
            ("CI/CD", "CI/CD", False),
            ("acme/api#42", "", False),
            ("https://example.org/a.md", "", False),
            ("Input and/or output", "", False),
            ("Dark-mode", "", False),
        ],
    )
    def test_one_word_with_a_slash_may_be_a_path(self, text: str, path: str, is_sure: bool) -> None:  # noqa: FBT001
        """Slack makes an address of the name of a Markdown file."""
        assert path_in(text) == path
        assert not path or is_surely_path(path) is is_sure

    def test_a_long_title_is_cut(self) -> None:
        """Between words, with an ellipsis, at 150 characters."""
        title = item_from("word " * 100).title

        assert len(title) <= 150
        assert title.endswith("word…")

    @given(st.text(st.characters(exclude_categories=())))
    def test_any_words_make_a_title_of_one_short_line(self, text: str) -> None:
        """Even with half a character in them (S22)."""
        title = item_from(text).title

        assert 1 <= len(title) <= 150
        assert len(title.splitlines()) == 1
        assert title.encode()


class TestResolving:
    @pytest.mark.parametrize(
        ("reference", "slugs"),
        [
            ("proj-12", ("proj-12",)),
            (" req-0027-offline-sync ", ("REQ-0027-offline-sync",)),
            ("offline-sync", ("REQ-0027-offline-sync",)),
            ("3.1", ("dark-mode-for-the-dashboard",)),
            ("3.2", ("REQ-0027-offline-sync",)),
            ("3.3", ("my-export-as-csv-file",)),
            ("#42", ("REQ-0027-offline-sync",)),
            ("gh-42", ("REQ-0027-offline-sync",)),
            ("https://github.com/acme/api/issues/42", ()),
            ("PROJ-12", ("proj-12",)),
            ("night SHIFT", ("my-export-as-csv-file",)),
            ("export, as", ("my-export-as-csv-file",)),
            ("dark mode", ("dark-mode-for-the-dashboard",)),
            ("GH-4", ("gh-420",)),
            ("nothing of the kind", ()),
            ("9.9", ()),
            ("3.4", ()),
            ("", ()),
            ("  ", ()),
        ],
    )
    def test_the_first_reading_that_finds_anything_counts(
        self, reference: str, slugs: tuple[str, ...]
    ) -> None:
        """Slug, end of a slug, backlog number, id at the source, part of a title."""
        assert resolve(reference, KNOWN, BACKLOG) == slugs

    def test_several_finds_are_for_people_to_choose_from(self) -> None:
        """None of them is picked by chance."""
        known = (KnownItem(slug="a", title="Dark mode"), KnownItem(slug="b", title="Dark launch"))

        assert resolve("dark", known) == ("a", "b")

    @pytest.mark.parametrize(
        "line", ["- 1.1 [~] Something else -> [spec](docs/requirements/REQ-7/)", "- 1.1 [ ] Night shifts"]
    )
    def test_the_backlog_knows_folders_that_are_called_otherwise(self, line: str) -> None:
        """By a link, or because meta.json has the very title."""
        known = (
            KnownItem(slug="REQ-7", title="Night shifts"),
            KnownItem(slug="night-shifts-of-nurses", title="Nurses"),
            KnownItem(slug="something-else", title="Else"),
        )

        assert resolve("1.1", known, line) == ("REQ-7",)

    def test_the_backlog_names_items_without_a_folder(self) -> None:
        """The title stands behind the number, if the line is an item at all."""
        assert backlog_title("3.4", BACKLOG) == "Dark launch"
        assert backlog_title("3.5", BACKLOG) is None

    @given(st.text(), st.text())
    def test_any_reference_resolves_to_known_items_only(self, reference: str, backlog: str) -> None:
        """Whatever people type, and whatever is in the backlog."""
        assert set(resolve(reference, KNOWN, backlog)) <= {known.slug for known in KNOWN}


class TestDraft:
    def test_it_says_what_was_asked_and_by_whom(self) -> None:
        """The first file of an item: title, source, person and time."""
        text = draft(item_from("Dark mode"), started_by="ada", at="2026-03-01T10:00:00.000Z")

        assert text == (
            "# Dark mode\n\n- **Source**: manual\n- **Started by**: ada\n"
            "- **Started at**: 2026-03-01T10:00:00.000Z\n"
        )

    def test_what_was_said_before_is_quoted_with_its_authors(self) -> None:
        """A thread that is adopted brings its discussion along."""
        text = draft(
            item_from("Dark mode"),
            started_by="ada",
            at="now",
            said=[("Bob_B", "It is bright.\n\nToo bright."), ("C", " ")],
        )

        assert text.endswith("## What was said before\n\n**Bob\\_B**:\n\n> It is bright.\n>\n> Too bright.\n")

    @given(st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=3))
    def test_nobody_can_forge_headings_or_markers(self, title: str, said: list[tuple[str, str]]) -> None:
        """Whatever stood in the thread, the document has the two headings that we wrote."""
        text = draft(Item(slug="x", title=item_from(title).title), started_by="ada", at="now", said=said)

        assert len(outline(text).headings) <= 2
        assert "<!--" not in text


def test_an_item_with_a_code_in_its_slug_is_found_by_its_title() -> None:
    """As people would write the slug; one that has that very slug comes first."""
    coded = KnownItem(slug="dark-mode-k3j9x2ab", title="Dark mode")

    assert resolve("dark-mode", [coded]) == ("dark-mode-k3j9x2ab",)
    assert resolve("dark-mode", [coded, KnownItem(slug="dark-mode", title="Dark mode")]) == ("dark-mode",)


@pytest.mark.parametrize("title", ["Dark mode", "x" * 200, "a" * 40 + " " + "b" * 9, "con"])
def test_a_slug_with_a_code_is_a_slug(title: str) -> None:
    """No longer than others, and with one dash before the code."""
    coded = suffixed(generate_slug(title), "k3j9x2ab")

    assert len(coded) <= SLUG_CHARS
    assert generate_slug(coded) == coded
