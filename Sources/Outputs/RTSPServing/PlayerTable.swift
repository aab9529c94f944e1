import MediaTypes
import STUN
import WebRTC

/// The clients' connections. They are found by number, by the addresses that their datagrams come from, and by the time
/// at which something is due for them. Belongs to the server's thread.
struct PlayerTable {
    /// All of them, the oldest first.
    private(set) var all: [RTSPClient] = []
    /// How many have a session that is set up.
    private(set) var setUpCount = 0
    /// Each one at the index that is its number; nil at free ones.
    private var numbered: [RTSPClient?] = []
    private var freeNumbers: [Int] = []
    private var deadlines = DeadlineQueue()
    private var sending: [TransportAddress: [RTSPClient]] = [:]

    /// Takes a small number for a client that is then added.
    mutating func takeNumber() -> Int {
        if let number = freeNumbers.popLast() { return number }
        numbered.append(nil)
        return numbered.count - 1
    }

    mutating func add(_ client: RTSPClient) {
        all.append(client)
        numbered[client.number] = client
    }

    subscript(number: Int) -> RTSPClient? { numbered.indices.contains(number) ? numbered[number] : nil }

    /// The clients whose datagrams may come from `address`: usually one.
    func sending(from address: TransportAddress) -> [RTSPClient] { sending[address] ?? [] }

    /// The time at which something is due for a client.
    var deadline: MonotonicTime { deadlines.earliest }

    /// The clients for which something is due. Each must be updated or removed.
    mutating func takeDue(now: MonotonicTime) -> [RTSPClient] {
        var due: [RTSPClient] = []
        while let number = deadlines.takeFirst(dueBy: now) {
            if let client = numbered[number] { due.append(client) }
        }
        return due
    }

    /// Takes up what has changed for a client.
    mutating func update(_ client: RTSPClient) {
        deadlines.set(client.deadline, for: client.number)
        note(client, (client.session.isSetUp, client.session.peerAddresses))
    }

    mutating func remove(_ client: RTSPClient) {
        guard self[client.number] === client else { return }
        note(client, (false, []))
        deadlines.remove(client.number)
        numbered[client.number] = nil
        freeNumbers.append(client.number)
        all.removeAll { $0 === client }
    }

    private mutating func note(_ client: RTSPClient, _ facts: RTSPClient.Facts) {
        if facts.isSetUp != client.noted.isSetUp { setUpCount += facts.isSetUp ? 1 : -1 }
        if facts.addresses != client.noted.addresses {
            for address in client.noted.addresses {
                sending[address]?.removeAll { $0 === client }
                if sending[address]?.isEmpty == true { sending[address] = nil }
            }
            for address in facts.addresses { sending[address, default: []].append(client) }
        }
        client.noted = facts
    }
}
