import SecureTransport

extension HostConfiguration {
    /// 128 random bits in 22 characters that need no escaping in a link. Never begins with `-`, so that no program
    /// takes it for an option.
    public static func randomToken() -> String {
        while true {
            let token = drawToken()
            if !token.hasPrefix("-") { return token }
        }
    }

    private static func drawToken() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var token = ""
        var bits: UInt32 = 0
        var count = 0
        for byte in SecureRandom.bytes(16) {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                token.append(alphabet[Int(bits >> UInt32(count)) & 63])
            }
        }
        if count > 0 { token.append(alphabet[Int(bits << UInt32(6 - count)) & 63]) }
        return token
    }
}
