"""
Gives the keys of earlier versions, which had no team in them, to the team of this process (ADR 39).

One script moves all of them, so another client sees either none or all. It can be repeated: what has been moved is
left as it is. A script that Redis stops in the middle, because its memory is full, is continued by the next start.

An earlier version that still runs would not see the moved keys, and would begin its roundtables anew. So nothing is
moved while one works, and afterwards it can save nothing: in the place of each roundtable stands one that only a later
version can read, and its three indexes have become texts, to which Redis adds nothing.
"""

from bot.errors import ConfigError, Unavailable
from bot.storage.redis_client import bounded, client
from bot.storage.serialization import SHAPE
from bot.storage.team import SANDBOX, valid

KEPT_SECONDS = 30 * 24 * 3600
"""As a finished roundtable. Later an earlier version finds nothing, and still cannot save."""
MOVED, WORKING, ANOTHERS = "moved", "working", "anothers"
BARRED = ("roundtable:timers", "roundtable:notices:owing", "roundtable:owing")
"""The last one says that everything has been moved."""
NOBODYS_VERSION = 2**31
"""No process expects this version, so none saves over it."""

MOVE = f"""
local team, lease, shape, kept, sandbox = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local barred = {{{", ".join(f"['{key}'] = true" for key in BARRED)}}}
local function write(...) return redis.call(...) end
local function is_a(kind, key) return redis.call('TYPE', key).ok == kind end
local function is_bar(key) return barred[key] and is_a('string', key) end
if is_bar(KEYS[1]) then return {{'{MOVED}'}} end

local time = redis.call('TIME')
local begins = time[1] + time[2] / 1000000 - lease
local function is_alive(name, key)
    if name ~= 'workers' and not string.match(name, '^concurrency:') then return false end
    return is_a('zset', key) and redis.call('ZCOUNT', key, begins, '+inf') > 0
end
local work, roundtables, others, cursor = {{}}, {{}}, {{}}, '0'
local is_ours, anothers = false, nil
repeat
    local found = redis.call('SCAN', cursor, 'MATCH', 'roundtable*', 'COUNT', 1000)
    cursor = found[1]
    for _, key in ipairs(found[2]) do
        local job = string.match(key, '^roundtable%-work:(.*)$')
        local name = string.match(key, '^roundtable:(.*)$')
        local slug = name and string.match(name, '^{{(.*)}}$')
        if job then
            if is_alive(job, key) then return {{'{WORKING}'}} end
            work[#work + 1] = key
        elseif slug and is_a('hash', key) then
            local held = redis.call('HMGET', key, 'team', 'moved')
            if held[1] == team then is_ours = true
            elseif held[1] and held[1] ~= '' and held[1] ~= sandbox then anothers = held[1] end
            if not held[2] then roundtables[#roundtables + 1] = slug end
        elseif name and not string.match(name, '^[A-Z][%w_.%-]*:') and not is_bar(key) then
            others[#others + 1] = name
        end
    end
until cursor == '0'
if anothers and not is_ours then return {{'{ANOTHERS}', anothers}} end

local function move(name)
    return write('RENAMENX', 'roundtable:' .. name, 'roundtable:' .. team .. ':' .. name)
end
for _, key in ipairs(work) do write('DEL', key) end
for _, name in ipairs(others) do move(name) end
for _, slug in ipairs(roundtables) do
    local name = '{{' .. slug .. '}}'
    if move(name) == 1 then
        local key, state = 'roundtable:' .. name, cjson.encode({{slug = slug, shape = shape}})
        write('HSET', key,
            'moved', team, 'version', {NOBODYS_VERSION}, 'shape', shape, 'state', state, 'stage', 'moved')
        write('EXPIRE', key, kept)
    end
end
for _, key in ipairs({{KEYS[2], KEYS[3], KEYS[1]}}) do write('SET', key, 'moved: keys have a team now') end
return {{'{MOVED}'}}
"""
"""
KEYS: the three that are BARRED, the last one first. ARGV: the team, for how many seconds after its last sign of life
an earlier version may be at work, a shape that it does not know, how long is kept what it finds, and the team of the
sandbox, whose state keeps no team out. Returns MOVED, WORKING or, with the team that the state belongs to, ANOTHERS. A
few roundtables of another team, such as the sandbox's, are moved with ours, and then found as little as before.
"""


class EarlierVersionWorks(Unavailable):
    """It has to be stopped first."""


class CarryingOver:
    """
    To be called before the keys of *team* are used; only the first calls ask Redis, until the state is carried over.

    Raises EarlierVersionWorks if an earlier version gave a sign of life in the last *lease_seconds*; Unavailable; and
    ConfigError if the state belongs to another team.
    """

    def __init__(self, url: str, team: str, *, lease_seconds: float) -> None:
        self._url = url
        self._team = valid(team)
        self._lease_seconds = lease_seconds
        self._is_done = False

    async def __call__(self, seconds: float | None = None) -> None:
        """*seconds* as in `bounded`; ten thousand roundtables take Redis about two."""
        if not self._is_done:
            await self._carry_over(seconds)
            self._is_done = True

    async def _carry_over(self, seconds: float | None) -> None:
        """Should the script take longer than we wait, Redis ends it all the same, and the next call finds it done."""
        keys = BARRED[::-1]
        arguments = self._team, self._lease_seconds, SHAPE + 1, KEPT_SECONDS, SANDBOX
        async with client(self._url, connections=1) as redis, bounded(seconds):
            result, *owner = [one.decode() for one in await redis.eval(MOVE, len(keys), *keys, *arguments)]
        if result == WORKING:
            raise EarlierVersionWorks(
                "An earlier version of Roundtable is at work on the Redis of REDIS_URL, or was just stopped. Stop it:"
                f" this version begins {self._lease_seconds:.0f} seconds after its last sign of life."
            )
        if result == ANOTHERS:
            raise ConfigError(
                f"The Redis of REDIS_URL has roundtables of {owner[0]!r}, another Slack workspace than {self._team},"
                " from an earlier version. Start the bot of that workspace first, or name another database."
            )
        assert result == MOVED, "the script has three answers"
