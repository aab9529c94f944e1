import CXCB
import Glibc
import TestSupport

extension DisplayClient {
    /// What the server keeps for all its clients, how many of each kind (X-Resource extension: QueryClients and
    /// QueryClientResources), spoken by hand because xcb's part for it may not be installed.
    func resources() throws -> [UInt32: Int] {
        let name = "X-Resource"
        let reply = xcb_query_extension_reply(
            connection, xcb_query_extension(connection, UInt16(name.utf8.count), name), nil)
        defer { free(reply) }
        guard let reply, reply.pointee.present != 0 else { throw NoResources() }
        var total: [UInt32: Int] = [:]
        for client in try pairs(reply.pointee.major_opcode, minor: 1, argument: nil) {
            for kind in try pairs(reply.pointee.major_opcode, minor: 2, argument: client.0) {
                total[kind.0, default: 0] += Int(kind.1)
            }
        }
        return total
    }

    struct NoResources: Error {}

    /// The pairs of numbers that a request of the extension answers with.
    private func pairs(_ major: UInt8, minor: UInt8, argument: UInt32?) throws -> [(UInt32, UInt32)] {
        var request: [UInt32] = [UInt32(minor) << 8 | UInt32(argument == nil ? 1 : 2) << 16]
        if let argument { request.append(argument) }
        guard let reply = shim_xcb_ask(connection, major, &request, request.count) else { throw NoResources() }
        defer { free(reply) }
        let pairs = Int(reply.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        return (0..<pairs).map {
            (
                reply.loadUnaligned(fromByteOffset: 32 + $0 * 8, as: UInt32.self),
                reply.loadUnaligned(fromByteOffset: 36 + $0 * 8, as: UInt32.self)
            )
        }
    }
}
