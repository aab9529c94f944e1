import STUN
import SecureTransport

extension FuzzTarget {
    /// STUN messages, and the agent that answers connectivity checks.
    static let stun = FuzzTarget(name: "stun", maxInput: STUNMessage.maxLength + 64) { input in
        let kind = DatagramKind(of: input)
        guard let message = try? STUNMessage(parsing: input) else { return }
        check(kind == .stun || input[0] > 3, "a message with a known method is told apart from other datagrams")
        checkRoundTrip(message)

        let isSigned = message.hasValidIntegrity(key: Array(password.utf8), hmac: hmac)
        if agent.isAnswer(message, to: message.transactionID, hmac: hmac) {
            check(isSigned && message.messageClass == .success, "no answer counts without the password")
        }
        guard let reply = agent.reply(to: message, from: address, hmac: hmac) else { return }
        if case .valid = reply.verdict { check(isSigned, "no check is valid without the password") }
        check(reply.datagram.count <= 2 * input.count + 128, "an answer is not much longer than what it answers")
        guard let answer = try? STUNMessage(parsing: reply.datagram) else {
            // A list of unknown attributes may be longer than what we accept ourselves.
            return check(reply.datagram.count > STUNMessage.maxLength, "our own answers can be read")
        }
        check(answer.transactionID == message.transactionID, "an answer has the transaction of its request")
    }
}

private let password = "VOkJxbRl1RmTxUk/WvJxBt"
private let agent = ICEAgent(
    localUfrag: "evtj", localPassword: password, remoteUfrag: "h6vY", remotePassword: password)
private let address = TransportAddress(ipv4: 192, 0, 2, 1, port: 32853)

private func hmac(_ key: [UInt8], _ data: [UInt8]) -> [UInt8] { Authentication.hmacSHA1(key: key, data: data) }

private func checkRoundTrip(_ message: STUNMessage) {
    let written = STUNMessage.encode(
        message.messageClass, method: message.method, transactionID: message.transactionID,
        attributes: message.attributes, key: nil, hmac: hmac)
    guard written.count <= STUNMessage.maxLength else { return }
    guard let again = try? STUNMessage(parsing: written) else { return check(false, "what we write can be read") }
    check(
        again.attributes == message.attributes && again.messageClass == message.messageClass
            && again.method == message.method, "what we write reads the same")
}
