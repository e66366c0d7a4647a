"""
Seals: who wrote a line of a transcript stands in the line itself (ADR 45).

`meta.seal` = {by, chain, n, after, sig}: the id of the key, the item's chain, the number of the line, the digest of the
sealed line before it, and an Ed25519 signature of the line's own digest. A digest covers `after`, so that one good
signature vouches for every line before it. Words and facts go into the digest as salted hashes, to be taken out later:
`meta.digest` then keeps them.
"""

import base64
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from bot.domain.transcript.lines import (
    CHANGING_ENTRIES,
    PERSON,
    UNWRITTEN,
    USER_NAME,
    Line,
    append,
    line_in,
    parse,
    whole_rows,
)
from bot.domain.values.value import Stored

SEAL, SEAL_KEY, SALT = "seal", "seal_key", "salt"
"""In a line's `meta`. The first line carries the public key; a change of key is the last line of the key before it."""
DIGEST, SCRUBBED = "digest", "scrubbed"
"""
`digest`: the two hashes of what the line said before something was taken out. It counts only if a sealed line says in
`scrubbed` what it reads now.
"""
TAKES_OVER = "takes_over"
"""
In the `meta` of the sealed line by which a person takes over lines without a valid seal: `{lines, digests}`. Before it
is sealed, the `OldLines` that they saw.
"""
UNSEALED = "unsealed"
"""In the `meta` of a chain's first line: how many lines of an older record stood before it."""

_LABEL = b"roundtable line 1"
_KEY_ID, _CHAIN_ID, _MARK = 16, 16, 32
"""Hexadecimal digits."""
_HIGHEST = 10**9
_UNHASHED = frozenset({"message_id", PERSON, SEAL_KEY, SEAL, SALT, DIGEST})
"""The first three are signed as they are."""
OF_SEALING = frozenset({SEAL, SEAL_KEY, SALT, DIGEST})
_TEXTS = ("by", "chain", "after", "sig")

TrustedKeys = Mapping[str, bytes]
"""Public keys by their ids."""


class OldLines(Stored):
    """So many lines without a seal of ours stand before the first sealed one; the digest is of all of them."""

    lines: int = 0
    digest: str = ""


class SealedRow(NamedTuple):
    """`n` is the number in the chain; 0 for a line that was taken over, and for one without a valid seal."""

    line: Line
    n: int
    digest: str
    is_sealed: bool
    raw: bytes = b""


class Chain(NamedTuple):
    """
    The readable lines: taken over ones, sealed ones in the order of their seals, and foreign ones where they stand.

    `chain`, `n` and `last` (a digest) are those of the newest sealed line. The key with the id `key` signs next.
    """

    rows: tuple[SealedRow, ...]
    flaws: tuple[str, ...]
    chain: str = ""
    n: int = 0
    last: str = ""
    key: str = ""

    @property
    def sealed_lines(self) -> tuple[Line, ...]:
        return tuple(row.line for row in self.rows if row.is_sealed)

    @property
    def foreign(self) -> frozenset[str]:
        """The ids of the other lines, and the empty id."""
        return frozenset({"", *(row.line.message_id for row in self.rows if not row.is_sealed)})


class Sealer:
    """Seals with the key of the first of *secrets*. The other keys still count. Without any, nothing is sealed."""

    def __init__(self, *secrets: bytes) -> None:
        seeds = [hashlib.sha256(_LABEL + secret).digest() for secret in secrets]
        self._keys = {
            key_id(public): _SealingKey(key, public, seed)
            for seed in seeds
            for key in [Ed25519PrivateKey.from_private_bytes(seed)]
            for public in [key.public_key().public_bytes_raw()]
        }
        self.trusted: TrustedKeys = {id: key.public for id, key in self._keys.items()}

    def append(self, content: bytes, lines: Iterable[Line]) -> bytes:
        """
        The file *content* with *lines* added and sealed. A torn tail is cut off, no round and no time goes back, and no
        line is written whose id a sealed line has.
        """
        if not self._keys:
            return append(content, lines)
        end = read_chain(content, self.trusted)
        before = len(end.rows) if not end.n else 0
        known = frozenset(line.message_id for line in end.sealed_lines) - {""}

        def sealed(line: Line) -> Line:
            nonlocal end
            if TAKES_OVER in line.meta:
                taken = take_over(content, self.trusted, line.meta[TAKES_OVER])
                line = line.but(meta={**line.meta, TAKES_OVER: taken})
            if before and not end.n:
                line = line.but(meta={**line.meta, UNSEALED: before})
            line, end = self._seal(line, end)
            return line

        return append(content, lines, known=known, finish=sealed)

    def _seal(self, line: Line, end: Chain) -> tuple[Line, Chain]:
        newest = next(iter(self._keys))
        by = end.key if end.key in self._keys else newest
        introduces = "" if end.key == newest else newest
        key, n = self._keys[by], end.n + 1
        read = parse(line.as_json().encode())  # what is sealed is what is read later
        assert isinstance(read, Line), read
        meta = {name: fact for name, fact in read.meta.items() if name not in OF_SEALING}
        if introduces:
            meta[SEAL_KEY] = _text(self._keys[introduces].public)
        chain = end.chain or _hash([read.message_id, read.ts, read.content])[:_CHAIN_ID]
        # Derived, because the same commit made again has to give the same bytes.
        told = _canonical([chain, n, end.last, read.content, meta])
        meta[SALT] = _text(hashlib.blake2b(told, key=key.seed, digest_size=12).digest())
        bare = read.but(meta={**meta, SEAL: {"by": by, "chain": chain, "n": n, "after": end.last, "sig": ""}})
        digest = digest_of(bare)
        seal = {**bare.meta[SEAL], "sig": _text(key.private.sign(_LABEL + digest.encode()))}
        after = Chain((), (), chain, n, digest, introduces or by)
        return bare.but(meta={**meta, SEAL: seal}), after


class _SealingKey(NamedTuple):
    private: Ed25519PrivateKey
    public: bytes
    seed: bytes


def read_chain(content: bytes, trusted: TrustedKeys | None = None) -> Chain:
    """
    The lines of the file *content*, and for each whether we wrote it.

    Without *trusted* keys (in CI, for an agent, in a fresh clone) the key of the first line counts. Of several chains
    the one that has the most lines does.
    """
    return _read_chain(content, tuple((trusted or {}).items()))


@lru_cache(maxsize=2)
def _read_chain(content: bytes, trusted: tuple[tuple[str, bytes], ...]) -> Chain:
    """One reading of a file, with the commit that follows it, asks for the same chain six times."""
    return _chain_of(_parsed(content), dict(trusted))


def _chain_of(parsed: Iterable["_Found | None"], trusted: TrustedKeys | None, chain: str = "") -> Chain:
    found = [row for row in parsed if row]
    signed = _vouched(found, _keys_in(found, trusted))
    lengths = Counter(found[at].seal["chain"] for at in sorted(signed))
    chain = chain or next((str(one) for one, _ in lengths.most_common(1)), "")  # of equal ones the first
    signed = {at for at in signed if found[at].seal["chain"] == chain}
    void = _rewritten(found, signed)
    # Of equal lines one counts, and rather the one with its words.
    once = {(found[at].n, found[at].digest): at for at in (*sorted(void), *sorted(signed - void))}
    places = sorted(once.values(), key=lambda at: (found[at].n, found[at].line.ts, found[at].digest))
    flaws = list(_gaps([found[at] for at in places]))
    numbered = [_sealed(found[at], found[at].n) for at in places if at not in void]
    over = _taken_over(found, signed, numbered)
    rows = [_sealed(found[at], 0)._replace(digest=mark) for mark, at in over.items()]
    ids = {row.line.message_id for row in (*numbered, *rows)} - {""}
    rest, taken = iter(numbered), frozenset(over.values())
    for at, row in enumerate(found):
        if at in signed and at not in void:
            rows += [one for one in [next(rest, None)] if one]
        elif at not in taken and row.line.message_id not in ids:
            rows.append(SealedRow(row.line, 0, "", is_sealed=False, raw=row.raw))
        elif at not in taken:
            flaws.append(f"{row.line.message_id} stands here a second time, not as it was sealed")
    sound = (signed - void) | taken
    broken = [row for at, row in enumerate(found) if SEAL in row.line.meta and at not in sound]
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        flaws.append(f"the seal of {broken[0].line.message_id or 'a line'}{more} does not hold")
    if not places:
        return Chain(tuple(rows), tuple(flaws))
    top = found[places[-1]]
    return Chain(
        tuple(rows), tuple(flaws), chain, top.n, top.digest, _introduced(top.line)[0] or top.seal["by"]
    )


def unsealed_lines(content: bytes, trusted: TrustedKeys | None = None) -> int:
    """A record without any seal is shown as it is to a reader without keys: so many lines of it. Else 0."""
    if trusted or b'"seal"' in content:
        return 0
    return sum(bool(row.strip()) for row in content.split(b"\n"))


def foreign_ids(content: bytes, trusted: TrustedKeys | None = None) -> frozenset[str]:
    """The ids of lines that we did not seal, and the empty id. Such lines only propose; see `unsealed_lines`."""
    if unsealed_lines(content, trusted):
        return frozenset({""})
    return read_chain(content, trusted).foreign


def damage_in(content: bytes, trusted: TrustedKeys | None = None) -> tuple[str, ...]:
    """
    What is wrong with the seals in *content*; nothing is, where there are neither seals nor keys. A line of another
    tool that proposes nothing needs none.
    """
    if not trusted and b'"seal"' not in content:
        return ()
    found = read_chain(content, trusted)
    pushed = sum(not row.is_sealed and not CHANGING_ENTRIES.isdisjoint(row.line.meta) for row in found.rows)
    if not pushed:
        return found.flaws
    many = "1 line has no seal: it" if pushed == 1 else f"{pushed} lines have no seal: they"
    return *found.flaws, f"{many} can only propose"


def key_named(content: bytes, id: str) -> TrustedKeys:
    """The public key with this id, if a line of *content* carries it."""
    rows = (row for raw in content.split(b"\n") if b'"seal_key"' in raw and (row := _found(raw)))
    keys = dict(_introduced(row.line) for row in rows)
    return {id: keys[id]} if id in keys else {}


def chain_in(rows: Iterable[bytes], trusted: TrustedKeys) -> str:
    """The chain of the first of *rows* that has a good signature; empty where none has."""
    found = (row for raw in rows if b'"seal"' in raw and (row := _found(raw)) and row.n)
    return next((str(row.seal["chain"]) for row in found if _is_signed(row, trusted)), "")


def last_sealed(content: bytes, trusted: TrustedKeys | None = None) -> Line | None:
    """
    The last line of *content* if its seal vouches for every other line: it has a good signature, and its number is that
    of the lines. None where all of them have to be read.
    """
    rows = [raw for raw in content.split(b"\n") if raw.strip(UNWRITTEN)]
    last = _found(rows[-1]) if rows else None
    if last is None or last.n != len(rows):
        return None
    introducing = [row for raw in rows if b'"seal_key"' in raw and (row := _found(raw))]
    return last.line if _is_signed(last, _keys_in(introducing, trusted)) else None


def lost_rows(content: bytes, before: bytes, trusted: TrustedKeys | None) -> tuple[SealedRow, ...]:
    """The sealed lines of *before* that *content* has no more, or has in another form."""
    return () if content.startswith(before) else _compare(_parsed(content), before, trusted)[0]


def _compare(
    rows: Iterable["_Found | None"], before: bytes, trusted: TrustedKeys | None
) -> tuple[tuple[SealedRow, ...], Chain]:
    """The sealed lines of *before* that *rows* lack, and what *rows* have of that chain."""
    was = read_chain(before, trusted)
    now = _chain_of(rows, trusted, was.chain)
    have = {(row.n, row.digest) if row.n else (0, _mark(row.line)) for row in now.rows}
    return tuple(row for row in was.rows if row.is_sealed and (row.n, row.digest) not in have), now


def restore_lines(content: bytes, before: bytes, trusted: TrustedKeys | None) -> bytes:
    """
    *content* with the sealed lines that *before* had and that were deleted or changed since, each in its place.

    Lines of others and rows that cannot be read stay. A changed line is replaced.
    """
    if content.startswith(before):
        return content
    found = _parsed(content)
    lost, now = _compare(found, before, trusted)
    if not lost:
        return content
    missing = deque(lost)
    ids = {row.line.message_id for row in lost} - {""}
    standing = {(row.n, row.digest) for row in now.rows if row.n}
    out = []
    for raw, row in zip(whole_rows(content).split(b"\n")[:-1], found, strict=False):
        is_standing = row is not None and (row.n, row.digest) in standing
        while is_standing and row and missing and missing[0].n < row.n:
            out.append(missing.popleft().raw)
        if is_standing or row is None or row.line.message_id not in ids:
            out.append(raw)
    out += [row.raw for row in missing]
    return b"".join(raw + b"\n" for raw in out)


def sealed_place(line: Line) -> tuple[str, int] | None:
    """Its chain and its number there, as its seal says; whether the seal holds is not asked."""
    seal = _seal_of(line)
    return (seal["chain"], seal["n"]) if seal else None


def old_lines(content: bytes, trusted: TrustedKeys) -> OldLines:
    """Of an older record, or of one whose keys were lost. Pushed lines are none."""
    return _counted(_old_marks(content, trusted))


def take_over(content: bytes, trusted: TrustedKeys, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fact `takes_over`. Where lines are not what people *asked* for any more, nothing is taken over."""
    marks = _old_marks(content, trusted)
    taken = marks if asked == _counted(marks).model_dump() else []
    return {"lines": len(taken), "digests": taken}


def _counted(marks: list[str]) -> OldLines:
    return OldLines(lines=len(marks), digest=_hash(marks)[:_MARK] if marks else "")


def _old_marks(content: bytes, trusted: TrustedKeys) -> list[str]:
    rows = read_chain(content, trusted).rows
    first = next((row.line for row in rows if row.n), None)
    old = takewhile(lambda row: not row.n, rows) if first is None or UNSEALED in first.meta else ()
    return [_mark(row.line) for row in old if not row.is_sealed]


def keep_digest(before: Line, after: Line) -> Line:
    """*after*, which is *before* with words or facts taken out. Its seal still holds once a sealed line tells of it."""
    hashes = before.meta.get(DIGEST) or list(_hashes(before))
    meta = {name: fact for name, fact in after.meta.items() if name != SALT}
    return after.but(meta={**meta, DIGEST: hashes} if _seal_of(before) else after.meta)


def reading_of(line: Line) -> str:
    """What a line reads, words and facts, as one hash: by it a `scrubbed` line is known."""
    return _hash([line.content, {name: fact for name, fact in line.meta.items() if name not in _UNHASHED}])


def digest_of(line: Line) -> str:
    """
    Of a line with a seal. Spaces, the order of keys, the notation of numbers and top-level fields that a `Line` does
    not have do not count, and neither does the name of a person who has an id.
    """
    seal, meta = line.meta[SEAL], line.meta
    hashes = meta[DIGEST] if DIGEST in meta else _hashes(line)
    place = (seal["by"], seal["chain"], seal["n"], seal["after"])
    fields = (line.ts, line.round, line.actor, line.phase, line.role, line.source, line.content_type)
    facts = (meta.get("message_id"), meta.get(PERSON), None, meta.get(SEAL_KEY))  # one that no line has
    return _hash([*place, *fields, *facts, *hashes])


def key_id(public: bytes) -> str:
    return hashlib.sha256(public).hexdigest()[:_KEY_ID]


class _Found(NamedTuple):
    """A readable row. `n` is 0 and `seal` empty where it has no seal of the right form."""

    raw: bytes
    line: Line
    seal: Mapping[str, Any]
    n: int
    digest: str


def _parsed(content: bytes) -> list[_Found | None]:
    """One for each row; None where it cannot be read."""
    return [_found(raw) for raw in content.split(b"\n")]


def _found(raw: bytes) -> _Found | None:
    line = line_in(raw) if raw.strip(UNWRITTEN) else None
    if line is None:
        return None
    if seal := _seal_of(line):
        try:
            return _Found(raw, line, seal, seal["n"], digest_of(line))
        except (ValueError, RecursionError):
            pass  # numbers or nesting that cannot be written again: not by us
    return _Found(raw, line, {}, 0, "")


def _seal_of(line: Line) -> Mapping[str, Any]:
    seal, hashes = line.meta.get(SEAL), line.meta.get(DIGEST, ["", ""])
    if not isinstance(seal, dict) or not all(isinstance(seal.get(name), str) for name in _TEXTS):
        return {}
    is_numbered = type(n := seal.get("n")) is int and 0 < n <= _HIGHEST
    is_hashed = isinstance(hashes, list) and len(hashes) == 2 and all(isinstance(one, str) for one in hashes)
    return seal if is_numbered and is_hashed else {}


def _keys_in(found: list[_Found], trusted: TrustedKeys | None) -> TrustedKeys:
    """A line that is signed by a known key makes the key known that it carries."""
    introducing = sorted((row for row in found if row.n and SEAL_KEY in row.line.meta), key=lambda row: row.n)
    if not trusted:
        first = next((row for row in introducing if _introduced(row.line)[0] == row.seal["by"]), None)
        keys = dict([_introduced(first.line)] if first else [])
    else:
        keys = dict(trusted)
    for row in introducing:
        id, public = _introduced(row.line)
        if id and id not in keys and _is_signed(row, keys):
            keys[id] = public
    return keys


def _introduced(line: Line) -> tuple[str, bytes]:
    """The key that a line carries, with its id."""
    public = _bytes(line.meta.get(SEAL_KEY))
    return key_id(public) if public else "", public


def _vouched(found: list[_Found], keys: TrustedKeys) -> set[int]:
    """The places of the rows that have a good signature, or that a row with one comes after."""
    vouched: set[str] = set()
    places = set()
    for at in sorted((at for at, row in enumerate(found) if row.n), key=lambda at: -found[at].n):
        row = found[at]
        if row.digest in vouched or _is_signed(row, keys):
            places.add(at)
            vouched.add(row.seal["after"])
    return places


def _is_signed(row: _Found, keys: TrustedKeys) -> bool:
    try:
        key = Ed25519PublicKey.from_public_bytes(keys[row.seal["by"]])
        key.verify(_bytes(row.seal["sig"]), _LABEL + row.digest.encode())
    except (KeyError, ValueError, InvalidSignature):
        return False
    return True


def _rewritten(found: list[_Found], signed: set[int]) -> set[int]:
    """The rows that say that words were taken out, where no other sealed line says so."""
    changed = {at for at in signed if DIGEST in found[at].line.meta}
    if not changed:
        return changed
    reads: dict[str, str] = {}
    for line in (found[at].line for at in sorted(signed - changed, key=lambda at: found[at].n)):
        told = (one for one in _list(line.meta.get(SCRUBBED)) if isinstance(one, dict))
        reads |= {str(one.get("message_id")): str(one.get("reads")) for one in told}
    return {
        at for at in changed for line in [found[at].line] if reads.get(line.message_id) != reading_of(line)
    }


def _sealed(row: _Found, n: int) -> SealedRow:
    return SealedRow(row.line, n, row.digest, is_sealed=True, raw=row.raw)


def _gaps(rows: list[_Found]) -> Iterator[str]:
    n, digests = 0, {""}
    for row in rows:
        name = row.line.message_id or f"sealed line {row.n}"
        if row.n == n:
            yield f"two lines have the number {n}: two copies of the bot wrote at once"
            digests.add(row.digest)
            continue
        if row.n > n + 1:
            missing = row.n - n - 1
            yield f"{missing} sealed {'line is' if missing == 1 else 'lines are'} missing before {name}"
        elif row.seal["after"] not in digests:
            yield f"the line that was sealed before {name} is missing"
        n, digests = row.n, {row.digest}


def _taken_over(found: list[_Found], signed: set[int], numbered: list[SealedRow]) -> dict[str, int]:
    """The places of the lines that a sealed line takes over, by their marks and in its order."""
    facts = (row.line.meta.get(TAKES_OVER) for row in numbered)
    wanted = [mark for fact in facts if isinstance(fact, dict) for mark in _list(fact.get("digests")) if mark]
    if not wanted:
        return {}
    places = {_mark(row.line): at for at, row in reversed(list(enumerate(found))) if at not in signed}
    return {mark: places[mark] for mark in wanted if isinstance(mark, str) and mark in places}


def _mark(line: Line) -> str:
    """Of a line without a valid seal: everything in it counts."""
    fields = (line.ts, line.round, line.actor, line.phase, line.role, line.source, line.content_type)
    try:
        return _hash([*fields, line.content, dict(line.meta)])[:_MARK]
    except (ValueError, RecursionError):
        return ""


def _hashes(line: Line) -> tuple[str, str]:
    salt = line.meta.get(SALT)
    apart = _UNHASHED | {USER_NAME} if PERSON in line.meta else _UNHASHED
    facts = {name: fact for name, fact in line.meta.items() if name not in apart}
    words = f"{salt}\n{line.content}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(words).hexdigest(), _hash([salt, facts])


def _hash(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: Any) -> bytes:
    text = _ENCODER.encode(value)
    if _WHOLE.search(text):
        text = _ENCODER.encode(_with_whole_numbers(value))
    return text.encode()


_WHOLE = re.compile(r"[:,\[]-?[0-9]+(?:\.0[,\]}]|\.[0-9]+e|e)")
"""May be a whole number with a decimal point, or a very large one."""
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def _with_whole_numbers(value: Any) -> Any:
    """Some tools write 1.0 as 1."""
    if isinstance(value, dict):
        return {name: _with_whole_numbers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: Any) -> bytes:
    """Empty where *text* is not base64."""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)) if isinstance(text, str) else b""
    except ValueError:
        return b""
