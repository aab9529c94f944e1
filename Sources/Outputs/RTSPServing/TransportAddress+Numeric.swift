import Glibc
import STUN

extension TransportAddress {
    /// An address as it is listened on, at port 0; nil if it isn't a numeric one or `localhost`.
    init?(numeric text: String) {
        let text = text == "localhost" ? "127.0.0.1" : text
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4), port: 0)
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes, port: 0)
        } else {
            return nil
        }
    }

    /// The same machine at another port.
    func with(port: UInt16) -> TransportAddress {
        TransportAddress(family: family, high: high, low: low, port: port, scope: scope)
    }
}
