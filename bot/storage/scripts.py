"""
What Redis does by itself for the store, in Lua, so that nobody gets in between.

The scripts go along each time: they are shorter than what they save, and a server that was restarted or replaced need
not be told them again.
"""

FIELDS = (
    "version", "incarnation", "stage", "phase", "step", "turn_count", "max_turns", "team", "channel", "thread", "owes",
    "updated", "shape", "state",
)  # fmt: skip
"""`state` is the roundtable; the others are for people to read, and for the store to look at."""
EXPECTED, SEEN, KEPT, LISTED = "ARGV[1]", "ARGV[2]", "ARGV[3]", "ARGV[4]"
GIVEN = {name: f"ARGV[{number}]" for number, name in enumerate(FIELDS, start=5)}
SAVED, UNLISTED, ANOTHER = -1, -2, -3

SAVE = f"""
local found = redis.call('HMGET', KEYS[1], 'version', 'incarnation', 'team', 'channel', 'thread')
local version = tonumber(found[1] or '0')
if version ~= tonumber({EXPECTED}) then return version end
if found[2] and {SEEN} ~= '' and found[2] ~= {SEEN} then return {ANOTHER} end
local stays = found[3] == {GIVEN["team"]} and found[4] == {GIVEN["channel"]} and found[5] == {GIVEN["thread"]}
if {LISTED} == '' and not stays then return {UNLISTED} end
redis.call('HSET', KEYS[1], {", ".join(f"'{name}',{given}" for name, given in GIVEN.items())})
if {KEPT} == '' then redis.call('PERSIST', KEYS[1]) else redis.call('EXPIRE', KEYS[1], {KEPT}) end
return {SAVED}
"""
"""
KEYS: the roundtable. ARGV: the version expected, its incarnation where that is known, for how many seconds it is kept,
whether the indexes were written first, and `FIELDS`. Returns SAVED; or UNLISTED, when it is not where it was, so that
they have to be; or ANOTHER, when the store was lost meanwhile and this is one that was begun anew; or the version found
instead.
"""

UNLESS_SEEN = """
local found = redis.call('HMGET', KEYS[1], 'version', 'incarnation', 'updated')
if found[1] == ARGV[1] and found[2] == ARGV[2] and found[3] == ARGV[3] then return 1 end
return redis.call('HGET', KEYS[1], 'state')
"""
SAME = 1
"""
KEYS: the roundtable. ARGV: the version, incarnation and time of the one that is known. Returns the state, or SAME. The
time tells two apart that have one version: a replica that became master may lack the last save, and get another.
"""

SETTLE = """
local owed = redis.call('ZSCORE', KEYS[1], ARGV[1])
if owed and tonumber(owed) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
"""
"""KEYS: who owes. ARGV: a slug, and the version that owes nothing; a later one may owe again."""

SET_ASIDE = """
if redis.call('HGET', KEYS[1], 'state') == ARGV[1] then redis.call('RENAME', KEYS[1], KEYS[2]) end
"""
"""KEYS: the roundtable, and where to. ARGV: the state that cannot be read, unless it was replaced meanwhile."""
