import { createHash } from "node:crypto";
import { MAX_DATED_BACK_MS } from "../journal.ts";

/** A Lua script; Redis runs it as one transaction and knows it by its hash. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/**
 * How every journal script begins. KEYS: the journal's hash, its entries, their ids, and its partition's
 * three indexes: when which journal is due, all of them, and those that wait for a host.
 * ARGV: the time in ms, empty for the server's clock; the journal's key. While a token is stored, `dueAt` is the lease's end.
 *
 * Redis refuses a script's first write when memory or disk is full and none after it, so all of a script is done or
 * nothing (redis.io/docs/latest/develop/programmability/eval-intro). Numbers go to commands and replies as they are: as text, Lua's own form loses digits.
 */
const BEGIN = `
local journal, entries, ids, due, list, hosts = unpack(KEYS)
local key = ARGV[2]
local row = redis.call('HMGET', journal, 'last', 'lastAt', 'token', 'dueAt', 'attempts', 'head', 'tail')
local last, lastAt = tonumber(row[1] or 0), tonumber(row[2] or 0)
local token, dueAt, attempts = row[3], tonumber(row[4] or nil), tonumber(row[5] or 0)
local head, tail = row[6] or '', row[7] or ''
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
-- Entry times never run backwards, unlike the clock that leases go by.
local at = math.max(now, lastAt)

-- Not when somebody else has cut or lengthened it or its ids: nothing is written to such a one.
local function isWhole() return redis.call('LLEN', entries) == last and redis.call('HLEN', ids) == last end

local function headAt(number)
  if number == last then return head end
  local element = number > 0 and redis.call('LINDEX', entries, number - 1)
  return element and string.match(element, '^s%d+ (%S+) ') or ''
end

-- Whether what was folded up to there is what is stored; '-': nobody knows its head.
local function isThere(after, known)
  return after <= last and (known == '-' or headAt(after) == known)
end

-- The time to go by. Where that is not the clock's, the last entry has to have it: that is given too, with the one before.
local function time()
  if lastAt <= now then return {at} end
  local newest = redis.call('LRANGE', entries, -2, -1)
  return {at, last, newest[#newest] or '', #newest > 1 and newest[1] or ''}
end

-- What was signed fits when nothing was written since, and its time is about now.
local function fits(place)
  local signedAt = tonumber(place[3] or nil)
  return signedAt and tonumber(place[1]) == last and place[2] == head
    and signedAt >= lastAt and signedAt <= at and at - signedAt <= ${MAX_DATED_BACK_MS}
end

-- Elements, with the last of which the journal then ends; more fields may change with them. False, and nothing is written,
-- when one of their ids is there.
local function write(newIds, elements, writtenAt, newTail, ...)
  for i, id in ipairs(newIds) do
    if redis.call('HSETNX', ids, id, last + i) == 0 then
      for taken = 1, i - 1 do redis.call('HDEL', ids, newIds[taken]) end
      return false
    end
  end
  redis.call('RPUSH', entries, unpack(elements))
  last, head, tail = last + #elements, string.match(elements[#elements], '^s%d+ (%S+) '), newTail
  redis.call('HSET', journal, 'last', last, 'lastAt', writtenAt, 'head', head, 'tail', tail, ...)
  -- After all others of the partition, whatever the clock says: who asks for changes since then misses none.
  local newest = redis.call('ZRANGE', list, -1, -1, 'WITHSCORES')
  redis.call('ZADD', list, math.max(writtenAt, 1 + tonumber(newest[2] or 0)), key)
  return true
end

-- What follows number after, and all that is needed to check it and to see that there are as many ids as entries.
local function stored(after)
  local known = redis.call('HLEN', ids)
  return {redis.call('LRANGE', entries, after, -1), headAt(after), last, head, tail, known}
end

`;

/** ARGV: …, after, its head. Returns what is stored after it, or nothing when that is lost. */
export const READ = script(`${BEGIN}
local after = tonumber(ARGV[3])
if not isThere(after, ARGV[4]) then return false end
return stored(after)
`);

/**
 * ARGV: …, id, 1 when that asks for work, then where it was signed for (number, head and time), the element, the
 * tail, and 1 when it drops the snapshot. Returns `known`, number, element and the one before it; `place` with the one to sign for
 * and the tail that it has; or `ok`, number, time and head.
 */
export const POST = script(`${BEGIN}
local id = ARGV[3]
local found = redis.call('HGET', ids, id)
if found then
  local known = tonumber(found) or 0
  local element = known > 0 and redis.call('LINDEX', entries, known - 1)
  local before = known > 1 and redis.call('LINDEX', entries, known - 2)
  return {'known', known, element or '', before or ''}
end
if not isWhole() then return {'altered', last} end
if not fits({ARGV[5], ARGV[6], ARGV[7]}) then return {'place', last, head, time(), tail} end
local element, writtenAt, newTail = ARGV[8], ARGV[7], ARGV[9]
if ARGV[4] ~= '1' then write({id}, {element}, writtenAt, newTail)
elseif token then write({id}, {element}, writtenAt, newTail, 'attempts', '0')
else
  write({id}, {element}, writtenAt, newTail, 'attempts', '0', 'dueAt', now)
  redis.call('ZADD', due, now, key)
  redis.call('HDEL', hosts, key)
end
if ARGV[10] == '1' then redis.call('HDEL', journal, 'snapshot') end
return {'ok', last, ARGV[7], head}
`);

/** ARGV: …, new token, ttl. Returns attempts, time and the last entry's number, or nothing when another has it or there is no such journal. */
export const LEASE = script(`${BEGIN}
if not row[1] then return false end
if token and dueAt and now < dueAt then return false end
local leaseEnd = now + tonumber(ARGV[4])
redis.call('HSET', journal, 'token', ARGV[3], 'dueAt', leaseEnd, 'attempts', attempts + 1)
redis.call('ZADD', due, leaseEnd, key)
redis.call('HDEL', hosts, key)
return {attempts + 1, now, last}
`);

/** ARGV: …, token, ttl. Returns the last entry's number and the time, or nothing when fenced. */
export const RENEW = script(`${BEGIN}
if token ~= ARGV[3] then return false end
local leaseEnd = now + tonumber(ARGV[4])
redis.call('HSET', journal, 'dueAt', leaseEnd)
redis.call('ZADD', due, leaseEnd, key)
return {last, now}
`);

/**
 * ARGV: …, token, after, its head, deadline or empty, 1 for decisions, where it was signed for (number, head and time),
 * the tail, how many entries, their ids, then the element of each, empty for those not to be written. Returns what
 * became of it, the time, and what is stored after `after`, which it leaves out where that is what was sent; `place` with the one to sign for, and which entries have no
 * id there; `lost` when what is stored up to `after` is not what was folded. The ids are an index that anybody may have
 * written to: whoever is told that an entry is there already has to see it.
 */
export const APPEND = script(`${BEGIN}
local after, before, count = tonumber(ARGV[4]), tonumber(ARGV[6]), tonumber(ARGV[12])
if token ~= ARGV[3] then return {'fenced'} end
if not isThere(after, ARGV[5]) then return {'lost'} end
local newIds, elements = {unpack(ARGV, 13, 12 + count)}, {unpack(ARGV, 13 + count)}
local fitting, isLate = fits({ARGV[8], ARGV[9], ARGV[10]}), before and at >= before
-- Mostly nothing is unseen, and what was signed for here is not there yet.
local usual = last == after and fitting and not isLate and isWhole()
for _, element in ipairs(elements) do usual = usual and element ~= '' end
if usual and write(newIds, elements, ARGV[10], ARGV[11]) then return {'written', time()} end

local known, missing = redis.call('HMGET', ids, unpack(newIds)), {}
for i = count, 1, -1 do
  if not known[i] then table.insert(missing, 1, i) end
  if (elements[i] == '') ~= (known[i] ~= false) then fitting = false end
  if known[i] then
    table.remove(newIds, i)
    table.remove(elements, i)
  end
end
if #missing > 0 then
  if not isWhole() then return {'altered', last} end
  if isLate then return {'late', time()} end
  if ARGV[7] == '1' and last ~= after then return {'unseen', time(), stored(after)} end
  if not fitting then return {'place', last, head, time(), tail, missing} end
  write(newIds, elements, ARGV[10], ARGV[11])
end
return {'ok', time(), stored(after)}
`);

/**
 * ARGV: …, token, after, its head, time when it is next due or empty, the host it waits for or empty, what is left for lists or
 * empty. Returns `ok`, `fenced`, `lost`, or `unseen` with what is stored after `after`.
 */
export const RELEASE = script(`${BEGIN}
local after = tonumber(ARGV[4])
if token ~= ARGV[3] then return {'fenced'} end
if not isThere(after, ARGV[5]) then return {'lost'} end
if last > after then return {'unseen', stored(after)} end
if ARGV[6] == '' then
  redis.call('HDEL', journal, 'token', 'dueAt')
  redis.call('ZREM', due, key)
else
  redis.call('HDEL', journal, 'token')
  redis.call('HSET', journal, 'dueAt', tonumber(ARGV[6]))
  redis.call('ZADD', due, tonumber(ARGV[6]), key)
end
redis.call('HSET', journal, 'attempts', '0')
if ARGV[7] ~= '' then redis.call('HSET', hosts, key, ARGV[7]) end
if ARGV[8] ~= '' then redis.call('HSET', journal, 'listed', ARGV[8])
else redis.call('HDEL', journal, 'listed') end
return {'ok'}
`);

/**
 * ARGV: …, after, its head. Returns 1, or 0 when that is lost. WAIT waits for what this connection wrote last, and so for all that
 * anybody wrote before it.
 */
export const TOUCH = script(`${BEGIN}
if not isThere(tonumber(ARGV[3]), ARGV[4]) then return 0 end
if row[1] then redis.call('HSET', journal, 'last', last) end
return 1
`);

/** ARGV: …, the number and head that the journal has to end with, a snapshot. Keeps it: its signature, number and head come first. */
export const KEEP_SNAPSHOT = script(`${BEGIN}
if tonumber(ARGV[3]) == last and ARGV[4] == head then redis.call('HSET', journal, 'snapshot', ARGV[5]) end
`);

/** Returns the snapshot, or nothing where it is not of what is stored. */
export const SNAPSHOT = script(`${BEGIN}
local kept = redis.call('HGET', journal, 'snapshot') or ''
local after, known = string.match(kept, '^%S+ (%d+) (%S+) ')
return after and isThere(tonumber(after), known) and kept
`);

/** KEYS: counter, reservation. ARGV: ms until forgotten. Returns 1, or 0 where nothing is set aside. */
export const TOUCH_RESERVATION = script(`
return redis.call('PEXPIRE', KEYS[2], ARGV[1])
`);

/** What does not fit together in a journal, or nothing. */
export const CHECK = script(`${BEGIN}
local function differs(what, one, other)
  if one ~= other then return key .. ': ' .. what .. ' ' .. tostring(one) .. ' is not ' .. tostring(other) end
end
-- It may be later, as it follows all that was written before.
local listedAt = tonumber(redis.call('ZSCORE', list, key) or 0)
return differs('the number of entries', redis.call('LLEN', entries), last)
  or differs('the number of ids', redis.call('HLEN', ids), last)
  or differs('the time in the list', math.min(listedAt, lastAt), lastAt)
  or differs('the time in the due index', tonumber(redis.call('ZSCORE', due, key) or nil), dueAt)
`);

/**
 * KEYS: the hosts by their last beat, and by the last of a program that reads tuples, with the time since which those are
 * the same. ARGV: the time in ms or empty, the host or empty, ms until forgotten, and until gone where the store is shared
 * with programs that do not. Returns the time, hosts and beats, and for how long none of those that are there differed.
 */
export const BEAT = script(`
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function text(number) return string.format('%.0f', number) end
local readFor = ''
if ARGV[4] ~= '' then
  local since = tonumber(redis.call('ZSCORE', KEYS[2], '') or now)
  local beats = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
  for i = 1, #beats, 2 do
    local isThere = tonumber(beats[i + 1]) > now - tonumber(ARGV[4])
    if isThere and redis.call('ZSCORE', KEYS[2], beats[i]) ~= beats[i + 1] then since = now end
  end
  redis.call('ZADD', KEYS[2], text(since), '', text(now), ARGV[2])
  readFor = text(now - since)
end
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[1], text(now), ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. text(now - tonumber(ARGV[3])))
end
return {text(now), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES'), readFor}
`);

/** KEYS: one. ARGV: what it is to hold now, and then. */
export const REPLACE = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
`);

/**
 * KEYS: counter, reservation. ARGV: amount, limit, ms until forgotten. Returns 1 when set aside, 0 when that is too much, or
 * what the counter holds where this program did not write that.
 */
export const RESERVE = script(`
local counter, reservation = unpack(KEYS)
if redis.call('EXISTS', reservation) == 1 then return 1 end
local held = redis.call('GET', counter) or '0'
if not string.match(held, '^%d+$') then return held end
local used = tonumber(held)
if used + tonumber(ARGV[1]) > tonumber(ARGV[2]) then return 0 end
redis.call('INCRBY', counter, ARGV[1])
redis.call('PEXPIRE', counter, ARGV[3])
redis.call('SET', reservation, ARGV[1], 'PX', ARGV[3])
return 1
`);

/** KEYS: counter, reservation. ARGV: what was used, ms until forgotten. */
export const SETTLE = script(`
local counter, reservation = unpack(KEYS)
local amount = redis.call('GET', reservation)
if not amount then return end
redis.call('DEL', reservation)
redis.call('INCRBY', counter, string.format('%.0f', tonumber(ARGV[1]) - tonumber(amount)))
redis.call('PEXPIRE', counter, ARGV[2])
`);
