import Signalling
import TestSupport
import Testing

@testable import WebRTCPushing

@Suite("The TURN servers that a WHIP server names")
struct NamedServersTests {
    private static let credentials = #"username="u"; credential="p"; credential-type="password""#

    private func read(_ links: String) -> [NamedServers.Relay]? {
        NamedServers(links: links, nearest: .global)?.servers
    }

    @Test("servers over TCP and TLS are taken, with their credentials, whatever stands around them")
    func servers() {
        let links = [
            #"<stun:stun.example>; rel="ice-server""#,
            #"<turn:turn.example?transport=udp>; rel="ice-server"; \#(Self.credentials)"#,
            #"<turn:turn.example?transport=tcp>; rel="ice-server"; username="a:b"; credential="c\"\\d,;e"; "#
                + #"credential-type="password""#,
            "<turns:[2001:db8::1]:443> ;credential=p;REL=ice-server ; Username = u",
            #"</other>; rel="help"; title="a, b""#,
        ].joined(separator: ", ")
        #expect(
            read(links) == [
                NamedServers.Relay(
                    host: "turn.example", port: 3478, hasTLS: false, user: "a:b", password: #"c"\d,;e"#),
                NamedServers.Relay(host: "[2001:db8::1]", port: 443, hasTLS: true, user: "u", password: "p"),
            ])
    }

    @Test(
        "what a push can't use, and what can't be read, is left out",
        arguments: [
            "", ",", "<", "turn:turn.example?transport=tcp", "<turn:turn.example?transport=tcp>",
            #"<turn:turn.example?transport=tcp>; rel="ice-server""#,
            #"<turn:turn.example?transport=tcp>; rel="next"; \#(credentials)"#,
            #"<turn:turn.example>; rel="ice-server"; \#(credentials)"#,
            #"<turns:turn.example?transport=udp>; rel="ice-server"; \#(credentials)"#,
            #"<turn:u:p@turn.example?transport=tcp>; rel="ice-server"; \#(credentials)"#,
            #"<turn:turn.example:99999?transport=tcp>; rel="ice-server"; \#(credentials)"#,
            #"<http://turn.example>; rel="ice-server"; \#(credentials)"#,
            #"<turn:turn.example?transport=tcp>; rel="ice-server"; username="u"; credential="p"; credential-type="oauth""#,
            #"<turn:turn.example?transport=tcp>; rel="ice-server"; username="u"; credential="p"#,
            #"<turn:turn.example?transport=tcp>; rel="ice-server"; username=""; credential="p""#,
        ])
    func unusable(links: String) {
        #expect(read(links) == nil)
    }

    @Test("of the servers that the user chooses, those are used that can be reached over TCP or TLS, wherever they are")
    func chosen() throws {
        let texts = ["stun:s", "turn:u:p@udp?transport=udp", "turn:u:p@tcp", "turns:u:p@127.0.0.1", "turn:none"]
        let servers = texts.compactMap { ICEServer($0) }
        #expect(servers.count == texts.count)
        let chosen = try #require(NamedServers(chosen: servers))
        #expect(chosen.nearest == .thisMachine)
        #expect(
            chosen.servers == [
                NamedServers.Relay(host: "tcp", port: 3478, hasTLS: false, user: "u", password: "p"),
                NamedServers.Relay(host: "127.0.0.1", port: 5349, hasTLS: true, user: "u", password: "p"),
            ])
        #expect(NamedServers(chosen: Array(servers.prefix(2))) == nil && NamedServers(chosen: []) == nil)
    }

    @Test("there are at most four, each once, from at most 16 KiB, with short words")
    func limits() {
        func link(_ host: String, user: String = "u") -> String {
            #"<turn:\#(host)?transport=tcp>; rel="ice-server"; username="\#(user)"; credential="p""#
        }
        #expect(read((0..<9).flatMap { [link("t\($0)"), link("t\($0)")] }.joined(separator: ","))?.count == 4)
        #expect(read(link("t", user: String(repeating: "u", count: 512)))?.count == 1)
        #expect(read(link("t", user: String(repeating: "u", count: 513))) == nil)
        #expect(read(link("t") + String(repeating: ",", count: 16 << 10)) == nil)
    }

    @Test("prefixes and random changes are read or left out, and nothing of them gets longer")
    func mutations() {
        let whole =
            #"<turn:turn.example?transport=tcp>; rel="ice-server"; username="a\"b"; credential="c"; "#
            + #"credential-type="password", <turns:t>; rel=ice-server; username=u; credential=p"#
        var random = SeededRandom(seed: 9725)
        let bytes = Array(whole.utf8)
        let inputs =
            (0...bytes.count).map { Array(bytes.prefix($0)) } + (0..<3000).map { _ in random.mutation(of: bytes) }
        for input in inputs {
            for relay in read(String(decoding: input, as: UTF8.self)) ?? [] {
                #expect(!relay.host.isEmpty && relay.port > 0 && !relay.user.isEmpty && relay.user.utf8.count <= 512)
            }
        }
        #expect(read(whole)?.count == 2)
    }
}
