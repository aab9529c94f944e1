import STUN
import TestSupport
import Testing

struct STUNMessageTests {
    @Test("the SHA-1 of these tests gives the known answers of FIPS 180 and RFC 2202")
    func testsOwnHash() {
        #expect(sha1(Array("abc".utf8)) == RFC5769.bytes("a9993e364706816aba3e25717850c26c9cd0d89d"))
        #expect(
            hmacSHA1(key: Array("Jefe".utf8), data: Array("what do ya want for nothing?".utf8))
                == RFC5769.bytes("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"))
        #expect(
            hmacSHA1(
                key: [UInt8](repeating: 0xaa, count: 80),
                data: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
                == RFC5769.bytes("aa4ae5e15272d00e95705637ce8a3b55ed402112"))
    }

    @Test("the request of RFC 5769 2.1 is read, and both its codes hold")
    func request() throws {
        let message = try STUNMessage(parsing: RFC5769.request)
        #expect(message.messageClass == .request)
        #expect(message.method == .binding)
        #expect(
            message.attributes == [
                .software("STUN test client"), .priority(0x6e00_01ff), .iceControlled(0x932f_f9b1_5126_3b36),
                .username("evtj:h6vY"),
            ])
        #expect(message.username == "evtj:h6vY")
        #expect(message.priority == 0x6e00_01ff)
        #expect(message.hasFingerprint)
        #expect(message.hasIntegrity)
        #expect(!message.useCandidate)
        #expect(message.hasValidIntegrity(key: RFC5769.password, hmac: hmacSHA1))
        #expect(!message.hasValidIntegrity(key: RFC5769.password + [1], hmac: hmacSHA1))
        #expect(!message.hasValidIntegrity(key: RFC5769.password) { _, _ in [] })
    }

    @Test("the responses of RFC 5769 2.2 and 2.3 name an IPv4 and an IPv6 address")
    func responses() throws {
        let ipv4 = try STUNMessage(parsing: RFC5769.responseIPv4)
        #expect(ipv4.messageClass == .success)
        #expect(ipv4.xorMappedAddress?.description == "192.0.2.1:32853")
        #expect(ipv4.hasValidIntegrity(key: RFC5769.password, hmac: hmacSHA1))
        let ipv6 = try STUNMessage(parsing: RFC5769.responseIPv6)
        #expect(ipv6.xorMappedAddress?.description == "[2001:db8:1234:5678:11:2233:4455:6677]:32853")
        #expect(ipv6.hasValidIntegrity(key: RFC5769.password, hmac: hmacSHA1))
    }

    @Test("the request of RFC 5769 2.4 holds without FINGERPRINT, and its REALM and NONCE are reported as not known")
    func longTermRequest() throws {
        let message = try STUNMessage(parsing: RFC5769.longTermRequest)
        #expect(message.username == "マトリックス")
        #expect(!message.hasFingerprint)
        #expect(message.unknownRequiredAttributes == [0x15, 0x14])
        #expect(message.hasValidIntegrity(key: RFC5769.longTermKey, hmac: hmacSHA1))
    }

    @Test("what follows MESSAGE-INTEGRITY is not believed")
    func attributesBehindIntegrity() throws {
        var bytes = Array(RFC5769.request.dropLast(8)) + [0x00, 0x25, 0x00, 0x00]
        bytes[3] = UInt8(bytes.count - 20)
        let message = try STUNMessage(parsing: bytes)
        #expect(!message.useCandidate)
        #expect(message.hasValidIntegrity(key: RFC5769.password, hmac: hmacSHA1))
    }

    @Test("every class, method and attribute that is written is read back")
    func roundTrip() throws {
        let id = try #require(STUNMessage.TransactionID(1...12))
        let address = try #require(TransportAddress(bytes: Array(1...16), port: 9))
        let attributes: [STUNAttribute] = [
            .username("a:b"), .priority(7), .useCandidate, .iceControlling(1 << 63), .iceControlled(3),
            .xorMappedAddress(address), .errorCode(487, reason: "Role Conflict"), .unknownAttributes([1, 2, 3]),
            .software("é"), .other(type: 0xffff, value: [1, 2, 3, 4, 5]),
        ]
        for messageClass in [STUNMessage.Class.request, .indication, .success, .error] {
            for method in [STUNMessage.Method.binding, .init(rawValue: 0xfff), .init(rawValue: 0xa5a)] {
                let bytes = STUNMessage.encode(
                    messageClass, method: method, transactionID: id, attributes: attributes, key: [1], hmac: hmacSHA1)
                let message = try STUNMessage(parsing: bytes)
                #expect(message.messageClass == messageClass)
                #expect(message.method == method)
                #expect(message.transactionID == id)
                #expect(message.attributes == attributes)
                #expect(message.hasFingerprint && message.hasValidIntegrity(key: [1], hmac: hmacSHA1))
            }
        }
        #expect(STUNMessage.TransactionID(1...11) == nil)
    }

    @Test(
        "no prefix of a message is a message",
        arguments: [RFC5769.request, RFC5769.responseIPv4, RFC5769.responseIPv6, RFC5769.longTermRequest])
    func prefixes(vector: [UInt8]) {
        for count in 0..<vector.count {
            #expect(throws: STUNError.self) { try STUNMessage(parsing: Array(vector.prefix(count))) }
        }
        #expect(throws: STUNError.length(STUNMessage.maxLength + 4)) {
            try STUNMessage(
                parsing: vector + [UInt8](repeating: 0, count: STUNMessage.maxLength + 4 - vector.count))
        }
    }

    @Test("no changed bit goes past FINGERPRINT, nor past MESSAGE-INTEGRITY where there is no FINGERPRINT")
    func changedBits() {
        for index in 0..<RFC5769.request.count * 8 {
            var bytes = RFC5769.request
            bytes[index / 8] ^= 1 << UInt8(index % 8)
            let message = try? STUNMessage(parsing: bytes)
            #expect(message == nil || message?.hasFingerprint == false, "bit \(index)")
        }
        for index in 0..<RFC5769.longTermRequest.count * 8 {
            var bytes = RFC5769.longTermRequest
            bytes[index / 8] ^= 1 << UInt8(index % 8)
            let message = try? STUNMessage(parsing: bytes)
            #expect(message?.hasValidIntegrity(key: RFC5769.longTermKey, hmac: hmacSHA1) != true, "bit \(index)")
        }
    }

    @Test("random changes and random bytes never trap, and an error says what is wrong")
    func mutations() {
        var random = SeededRandom(seed: 8489)
        for vector in [RFC5769.request, RFC5769.responseIPv6, RFC5769.longTermRequest] {
            for _ in 0..<2000 {
                var bytes = random.mutation(of: vector)
                if bytes.count >= 20 {
                    // A fitting length lets the changes reach the attributes.
                    bytes.removeLast(bytes.count % 4)
                    bytes[2] = 0
                    bytes[3] = UInt8(clamping: bytes.count - 20)
                }
                do {
                    let message = try STUNMessage(parsing: bytes)
                    _ = message.hasValidIntegrity(key: RFC5769.password, hmac: hmacSHA1)
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
        }
    }
}
