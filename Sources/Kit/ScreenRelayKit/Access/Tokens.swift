import FoundationEssentials
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
        // The alphabet of RFC 4648, section 5, without padding.
        Data(SecureRandom.bytes(16)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
