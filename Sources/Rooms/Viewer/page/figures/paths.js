// Which path the pictures take, and why none of the better ones. Nothing here accesses the page.

// Milliseconds from the host's answer after which a path isn't waited for.
const TIMEOUT = 3000;
const KINDS = ["udp", "tcp", "relay"];

/**
 * Returns the path in use and the better ones that aren't, from the `traces` of a `Peer`, which may be null, whether the
 * pictures come over the WebSocket instead, and the time by `performance.now()`.
 *
 * `used` is null if there is none yet. Its `kind` is "udp", "tcp", "relay" (with its `host`, and the `protocol` to it) or
 * "webSocket"; but for that, `local` and `remote` have the `type` of each address ("host", "srflx", "prflx" or "relay")
 * and its `family` ("IPv4", "IPv6", or empty if the browser hides it). Each of `others` has its `kind`, and the key of a
 * reason, with the `code` and `text` of an error.
 */
export function readPaths(traces, isByWebSocket, now) {
  const entries = new Map(traces?.report ?? []);
  const pairs = [...entries.values()].filter(({ type }) => type === "candidate-pair").map((pair) => ({
    ...pair, local: entries.get(pair.localCandidateId) ?? {}, remote: entries.get(pair.remoteCandidateId) ?? {},
  }));
  const used = isByWebSocket ? { kind: "webSocket" } : usedPath(entries, pairs);
  const better = KINDS.includes(used?.kind) ? KINDS.slice(0, KINDS.indexOf(used.kind)) : KINDS;
  const facts = { ...traces, entries, pairs, waited: traces?.answered > 0 ? now - traces.answered : 0 };
  return { used, others: traces ? better.map((kind) => ({ kind, ...reason(kind, facts) })) : [] };
}

function usedPath(entries, pairs) {
  const transport = [...entries.values()].find(({ type }) => type === "transport");
  const wanted = transport?.selectedCandidatePairId;
  const pair = pairs.find(({ id, selected, nominated, state }) =>
    wanted ? id === wanted : selected || (nominated && state === "succeeded"));
  if (!pair) return null;
  const { local, remote } = pair;
  const ends = { local: end(local), remote: end(remote) };
  const relay = [local, remote].find(({ candidateType }) => candidateType === "relay");
  if (!relay) return { kind: local.protocol === "tcp" ? "tcp" : "udp", ...ends };
  const host = /^turns?:(\[[^\]]*\]|[^:?]*)/i.exec(relay.url ?? "")?.[1];
  return { kind: "relay", host: host || relay.address || "?", protocol: relay.relayProtocol ?? relay.protocol ?? "udp", ...ends };
}

function end({ candidateType, address, ip }) {
  const text = address ?? ip ?? "";
  return { type: candidateType ?? "host", family: text.includes(":") ? "IPv6" : /^\d+(\.\d+){3}$/.test(text) ? "IPv4" : "" };
}

function reason(kind, { errors, answer, servers, entries, pairs, waited }) {
  const isOurs = ({ candidateType, protocol }) =>
    kind === "relay" ? candidateType === "relay" : candidateType !== "relay" && protocol === kind;
  if (kind === "relay") {
    const isRelay = (url) => /^turns?:/i.test(url);
    if (!servers.some(({ urls }) => [urls].flat().some(isRelay))) return { key: "notConfigured" };
    const hasCandidate = [...entries.values()].some((one) => one.type === "local-candidate" && isOurs(one));
    const error = hasCandidate ? null : errors.find(({ url }) => isRelay(url ?? ""));
    if (error) return { key: "error", code: error.errorCode, text: error.errorText ?? "" };
  } else if (waited > 0) {
    if (!new RegExp(`^a=candidate:\\S+ \\d+ ${kind} `, "im").test(answer)) return { key: "notOffered" };
    const isAllowed = [...entries.values()].some((one) => one.type === "local-candidate" && isOurs(one));
    if (entries.size > 0 && waited >= TIMEOUT && !isAllowed) return { key: "notAllowed" };
  }
  const tried = pairs.filter(({ local }) => isOurs(local));
  if (tried.some(({ state }) => state === "succeeded")) return { key: "notChosen" };
  if (kind === "tcp" && tried.length > 0 && tried.every(({ state }) => state === "failed")) return { key: "refused" };
  return { key: waited < TIMEOUT ? "trying" : "noAnswer" };
}
