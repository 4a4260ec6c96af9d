import { createHash } from "node:crypto";

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
 * nothing (redis.io/docs/latest/develop/programmability/eval-intro). Numbers are written as `%.0f`: Lua's own form loses digits.
 */
const BEGIN = `
local journal, entries, ids, due, list, hosts = unpack(KEYS)
local key = ARGV[2]
local function text(number) return string.format('%.0f', number) end
local row = redis.call('HMGET', journal, 'last', 'lastAt', 'token', 'dueAt', 'attempts')
local last, lastAt = tonumber(row[1] or 0), tonumber(row[2] or 0)
local token, dueAt, attempts = row[3], tonumber(row[4] or nil), tonumber(row[5] or 0)
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
-- Entry times never run backwards, unlike the clock that leases go by.
local at = math.max(now, lastAt)

local function write(id, payload)
  last = last + 1
  redis.call('RPUSH', entries, text(at) .. ' ' .. payload)
  redis.call('HSET', ids, id, text(last))
  redis.call('HSET', journal, 'last', text(last), 'lastAt', text(at))
  redis.call('ZADD', list, text(at), key)
end

local function hold(newToken, newDueAt, newAttempts, newHost)
  if newHost then redis.call('HSET', hosts, key, newHost) else redis.call('HDEL', hosts, key) end
  redis.call('HSET', journal, 'attempts', text(newAttempts))
  if newToken then redis.call('HSET', journal, 'token', newToken)
  else redis.call('HDEL', journal, 'token') end
  if newDueAt then
    redis.call('HSET', journal, 'dueAt', text(newDueAt))
    redis.call('ZADD', due, text(newDueAt), key)
  else
    redis.call('HDEL', journal, 'dueAt')
    redis.call('ZREM', due, key)
  end
end

local function unseen(after) return redis.call('LRANGE', entries, after, -1) end

-- WAIT waits for this connection's last write, so a request that finds its work done writes once more.
local function touch() redis.call('HSET', journal, 'last', text(last)) end
`;

/** ARGV: …, id, payload, 1 when that is work for someone. Returns 1, number, stored entry of a known id; else 0, number, time. */
export const POST = script(`${BEGIN}
local id, payload = ARGV[3], ARGV[4]
local known = redis.call('HGET', ids, id)
if known then
  touch()
  return {1, tonumber(known), redis.call('LINDEX', entries, tonumber(known) - 1)}
end
write(id, payload)
if token then hold(token, dueAt, 0) else hold(false, ARGV[5] == '1' and now, 0) end
return {0, last, text(at)}
`);

/** ARGV: …, new token, ttl. Returns attempts and time, or nothing when another has it or there is no such journal. */
export const LEASE = script(`${BEGIN}
if not row[1] then return false end
if token and dueAt and now < dueAt then return false end
hold(ARGV[3], now + tonumber(ARGV[4]), attempts + 1)
return {attempts + 1, text(now)}
`);

/** ARGV: …, token, ttl. Returns the last entry's number and the time, or nothing when fenced. */
export const RENEW = script(`${BEGIN}
if token ~= ARGV[3] then return false end
hold(token, now + tonumber(ARGV[4]), attempts)
return {last, text(now)}
`);

/**
 * ARGV: …, token, after, deadline or empty, 1 for decisions, then id and payload of each entry. Returns what became of
 * it, the time, and the entries after `after`; `lost` when the journal has not even got as far as `after`.
 */
export const APPEND = script(`${BEGIN}
local after, before = tonumber(ARGV[4]), tonumber(ARGV[5])
if token ~= ARGV[3] then return {'fenced'} end
if after > last then return {'lost', text(last)} end
local missing = {}
for i = 7, #ARGV, 2 do
  if redis.call('HEXISTS', ids, ARGV[i]) == 0 then table.insert(missing, i) end
end
if #missing == 0 then touch()
else
  if before and at >= before then return {'late', text(at)} end
  if ARGV[6] == '1' and last ~= after then return {'unseen', text(at), unseen(after)} end
  for _, i in ipairs(missing) do write(ARGV[i], ARGV[i + 1]) end
end
return {'ok', text(at), unseen(after)}
`);

/** ARGV: …, token, after, time when it is next due or empty, the host it waits for or empty. Returns `ok`, `fenced`, `lost` or `unseen` with entries. */
export const RELEASE = script(`${BEGIN}
local after = tonumber(ARGV[4])
if token ~= ARGV[3] then return {'fenced'} end
if after > last then return {'lost', text(last)} end
if last > after then return {'unseen', '', unseen(after)} end
hold(false, tonumber(ARGV[5]), 0, ARGV[6] ~= '' and ARGV[6])
return {'ok'}
`);

/** What does not fit together in a journal, or nothing. */
export const CHECK = script(`${BEGIN}
local function differs(what, one, other)
  if one ~= other then return key .. ': ' .. what .. ' ' .. tostring(one) .. ' is not ' .. tostring(other) end
end
return differs('the number of entries', redis.call('LLEN', entries), last)
  or differs('the number of ids', redis.call('HLEN', ids), last)
  or differs('the time in the list', tonumber(redis.call('ZSCORE', list, key) or nil), lastAt)
  or differs('the time in the due index', tonumber(redis.call('ZSCORE', due, key) or nil), dueAt)
`);

/** KEYS: the hosts by their last beat. ARGV: the time in ms or empty, the host or empty, ms until forgotten. Returns time, then hosts and beats. */
export const BEAT = script(`
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function text(number) return string.format('%.0f', number) end
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[1], text(now), ARGV[2])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. text(now - tonumber(ARGV[3])))
end
return {text(now), redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}
`);

/** KEYS: counter, reservation. ARGV: amount, limit, ms until forgotten. Returns 1 when set aside, else 0. */
export const RESERVE = script(`
local counter, reservation = unpack(KEYS)
if redis.call('EXISTS', reservation) == 1 then return 1 end
local used = tonumber(redis.call('GET', counter) or 0)
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
