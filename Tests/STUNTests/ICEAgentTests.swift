import STUN
import Testing

struct ICEAgentTests {
    let agent = ICEAgent(
        localUfrag: "host", localPassword: "a password of the host", remoteUfrag: "peer",
        remotePassword: "a password of the peer")
    let key = Array("a password of the host".utf8)
    let source = TransportAddress(ipv4: 192, 0, 2, 7, port: 50000)

    private func check(
        _ attributes: [STUNAttribute], key: [UInt8]?, messageClass: STUNMessage.Class = .request
    ) throws -> (reply: ICEAgent.Reply, message: STUNMessage)? {
        let id = try #require(STUNMessage.TransactionID((0..<12).map { $0 * 7 }))
        let request = try STUNMessage(
            parsing: STUNMessage.encode(
                messageClass, transactionID: id, attributes: attributes, key: key, hmac: hmacSHA1))
        guard let reply = agent.reply(to: request, from: source, hmac: hmacSHA1) else { return nil }
        let message = try STUNMessage(parsing: reply.datagram)
        #expect(message.transactionID == id)
        #expect(message.hasFingerprint)
        return (reply, message)
    }

    @Test("a browser's check gets its own address back, signed")
    func browserCheck() throws {
        let (reply, message) = try #require(
            try check([.username("host:peer"), .iceControlling(5), .priority(1)], key: key))
        #expect(reply.verdict == .valid(nominated: false))
        #expect(message.messageClass == .success)
        #expect(message.xorMappedAddress == source)
        #expect(message.hasValidIntegrity(key: key, hmac: hmacSHA1))
    }

    @Test("FFmpeg's check, with neither priority nor role, nominates")
    func bareCheck() throws {
        let (reply, _) = try #require(try check([.username("host:peer"), .useCandidate], key: key))
        #expect(reply.verdict == .valid(nominated: true))
    }

    @Test("a check without a name or without a code gets 400, unsigned")
    func badRequest() throws {
        for (attributes, key) in [([], key), ([STUNAttribute.username("host:peer")], nil)] {
            let (reply, message) = try #require(try check(attributes, key: key))
            #expect(reply.verdict == .refused(.badRequest))
            #expect(message.errorCode?.code == 400)
            #expect(!message.hasIntegrity)
        }
    }

    @Test("a wrong password or another's name gets 401, unsigned")
    func unauthenticated() throws {
        for (name, key) in [("host:peer", [1, 2, 3]), ("host:other", key), ("host", key), ("", key)] {
            let (reply, message) = try #require(try check([.username(name), .useCandidate], key: key))
            #expect(reply.verdict == .refused(.unauthenticated))
            #expect(message.errorCode?.code == 401)
            #expect(message.errorCode?.reason == "Unauthenticated")
            #expect(!message.hasIntegrity)
        }
    }

    @Test("an attribute that had to be understood gets 420, which names it")
    func unknownAttribute() throws {
        let (reply, message) = try #require(
            try check([.username("host:peer"), .other(type: 0x7f01, value: [1])], key: key))
        #expect(reply.verdict == .refused(.unknownAttribute))
        #expect(message.attributes.contains(.unknownAttributes([0x7f01])))
        #expect(message.hasValidIntegrity(key: key, hmac: hmacSHA1))
        let (optional, _) = try #require(
            try check([.username("host:peer"), .other(type: 0xc057, value: [0, 1, 0, 0])], key: key))
        #expect(optional.verdict == .valid(nominated: false))
    }

    @Test("a peer that takes itself for controlled gets 487")
    func roleConflict() throws {
        let (reply, message) = try #require(try check([.username("host:peer"), .iceControlled(1)], key: key))
        #expect(reply.verdict == .refused(.roleConflict))
        #expect(message.errorCode?.code == 487)
        #expect(message.hasValidIntegrity(key: key, hmac: hmacSHA1))
    }

    @Test(
        "of two agents that claim one role, that with the larger tie-breaker controls",
        arguments: [
            (ICEAgent.Role.controlling(tieBreaker: 5), STUNAttribute.iceControlling(5), 487, false),
            (.controlling(tieBreaker: 5), .iceControlling(6), nil, true),
            (.controlling(tieBreaker: 5), .iceControlled(6), nil, false),
            (.controlled(tieBreaker: 5), .iceControlled(5), nil, true),
            (.controlled(tieBreaker: 5), .iceControlled(6), 487, false),
            (.controlled(tieBreaker: 5), .iceControlling(1), nil, false),
        ] as [(ICEAgent.Role, STUNAttribute, Int?, Bool)])
    func tieBreakers(role: ICEAgent.Role, claim: STUNAttribute, error: Int?, yields: Bool) throws {
        var agent = agent
        agent.role = role
        let id = try #require(STUNMessage.TransactionID(1...12))
        let request = STUNMessage.encode(
            .request, transactionID: id, attributes: [.username("host:peer"), claim], key: key, hmac: hmacSHA1)
        let reply = try #require(
            agent.reply(to: try STUNMessage(parsing: request), from: source, hmac: hmacSHA1))
        #expect(try STUNMessage(parsing: reply.datagram).errorCode?.code == error)
        #expect(reply.yieldsRole == yields)
    }

    @Test("a request has the role of its agent, and nominates only if it is told to")
    func roles() throws {
        let id = try #require(STUNMessage.TransactionID(1...12))
        var agent = agent
        agent.role = .controlling(tieBreaker: 9)
        for nominates in [false, true] {
            let request = try STUNMessage(parsing: agent.request(id, nominates: nominates, hmac: hmacSHA1))
            #expect(request.attributes.contains(.iceControlling(9)))
            #expect(request.useCandidate == nominates)
            #expect(request.username == "peer:host")
            #expect(request.hasValidIntegrity(key: Array("a password of the peer".utf8), hmac: hmacSHA1))
        }
        agent.role = .controlled(tieBreaker: 7)
        let request = try STUNMessage(parsing: agent.request(id, hmac: hmacSHA1))
        #expect(request.attributes.contains(.iceControlled(7)) && !request.useCandidate)
    }

    @Test("a role conflict counts only if the peer has signed it")
    func signedConflict() throws {
        let id = try #require(STUNMessage.TransactionID(1...12))
        let request = try STUNMessage(parsing: agent.request(id, hmac: hmacSHA1))
        for (password, counts) in [("a password of the peer", true), ("another", false)] {
            for code in [STUNErrorCode.roleConflict, .badRequest] {
                let response = try STUNMessage(
                    parsing: STUNMessage.failure(code, to: request, key: Array(password.utf8), hmac: hmacSHA1))
                let isConflict = agent.isRoleConflict(response, to: id, hmac: hmacSHA1)
                #expect(isConflict == (counts && code == .roleConflict))
                #expect(!agent.isAnswer(response, to: id, hmac: hmacSHA1))
            }
        }
    }

    @Test("only requests are answered")
    func otherClasses() throws {
        for messageClass in [STUNMessage.Class.indication, .success, .error] {
            #expect(try check([.username("host:peer")], key: key, messageClass: messageClass) == nil)
        }
    }

    @Test("the agent that a check is for is found by the name before the colon")
    func localUfrag() throws {
        #expect(ICEAgent.localUfrag(of: try STUNMessage(parsing: RFC5769.request)) == "evtj")
        #expect(ICEAgent.localUfrag(of: try STUNMessage(parsing: RFC5769.responseIPv4)) == nil)
        #expect(ICEAgent.localUfrag(of: try STUNMessage(parsing: RFC5769.longTermRequest)) == nil)
    }

    @Test("an IPv4 peer on a dual-stack socket is told its IPv4 address")
    func mappedAddress() throws {
        let mapped = try #require(
            TransportAddress(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7], port: 50000))
        #expect(mapped != source)
        let request = try STUNMessage(
            parsing: STUNMessage.encode(
                .request, transactionID: try #require(.init(1...12)), attributes: [.username("host:peer")], key: key,
                hmac: hmacSHA1))
        let reply = try #require(agent.reply(to: request, from: mapped, hmac: hmacSHA1))
        #expect(try STUNMessage(parsing: reply.datagram).xorMappedAddress == source)
    }
}
