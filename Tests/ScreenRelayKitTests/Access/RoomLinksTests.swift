import Foundation
import STUN
import Signalling
import Testing

@testable import ScreenRelayKit

@Suite("The links of a host's rooms")
struct RoomLinksTests {
    private func configuration(_ change: (inout HostConfiguration) -> Void = { _ in }) -> HostConfiguration {
        var configuration = HostConfiguration()
        configuration.room = "desk"
        configuration.token = "secret"
        change(&configuration)
        return configuration
    }

    private let loopback = [
        ListenAddress(address: "127.0.0.1", port: 8080), ListenAddress(address: "192.0.2.7", port: 8081),
    ]

    @Test("name the first address that is listened on, in brackets where it is IPv6, and the token where there is one")
    func first() {
        #expect(RoomLinks(configuration(), addresses: loopback).first == "http://127.0.0.1:8080/#desk,secret")
        let six = [ListenAddress(address: "2001:db8::7", port: 80)]
        #expect(RoomLinks(configuration(), addresses: six).first == "http://[2001:db8::7]:80/#desk,secret")
        let open = configuration { $0.token = nil }
        #expect(RoomLinks(open, addresses: loopback).first == "http://127.0.0.1:8080/#desk")
    }

    @Test("never name a wildcard, which nobody can reach")
    func wildcard() {
        for address in ["0.0.0.0", "::"] {
            let link = RoomLinks(configuration(), addresses: [ListenAddress(address: address, port: 8080)]).first
            #expect(link.hasSuffix(":8080/#desk,secret"))
            #expect(!link.contains("0.0.0.0") && !link.contains("[::]"))
        }
    }

    @Test("name the best of this machine's addresses, and localhost where it is in no network")
    func interfaces() {
        let six = TransportAddress(bytes: [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [7], port: 0)
        let both = [six, TransportAddress(ipv4: 192, 0, 2, 7, port: 0)].compactMap { $0 }
        func links(_ address: String, _ interfaces: [TransportAddress]) -> RoomLinks {
            RoomLinks(
                configuration(), addresses: [ListenAddress(address: address, port: 8080)], interfaces: { interfaces })
        }
        #expect(links("::", both).first == "http://[2001:db8::7]:8080/#desk,secret")
        #expect(links("::", both).reachable == ["2001:db8::7", "192.0.2.7"])
        // It hears IPv4 alone.
        #expect(links("0.0.0.0", both).reachable == ["192.0.2.7"])
        #expect(links("198.51.100.3", both).reachable == ["198.51.100.3"])
        #expect(links("127.0.0.1", both).reachable.isEmpty && links("::1", both).reachable.isEmpty)
        for address in ["0.0.0.0", "::"] {
            #expect(links(address, []).first == "http://localhost:8080/#desk,secret")
            #expect(links(address, []).reachable.isEmpty)
        }
    }

    @Test("name advertised addresses with the port of HTTP, not of the media")
    func advertised() {
        let configuration = configuration { $0.advertised = [TransportAddress(ipv4: 203, 0, 113, 5, port: 9000)] }
        #expect(RoomLinks(configuration, addresses: loopback).advertised == ["http://203.0.113.5:8080/#desk,secret"])
        #expect(RoomLinks(self.configuration(), addresses: loopback).advertised.isEmpty)
    }

    @Test("are one for each room, with its own token, and none for a room that isn't there")
    func rooms() {
        let links = RoomLinks(
            configuration {
                $0.furtherRooms = [HostRoom(name: "attic", token: "other"), HostRoom(name: "hall", token: nil)]
            }, addresses: loopback)
        #expect(links.link(to: "desk") == links.first)
        #expect(links.link(to: "attic") == "http://127.0.0.1:8080/#attic,other")
        #expect(links.link(to: "hall") == "http://127.0.0.1:8080/#hall")
        #expect(links.link(to: "cellar") == nil)
    }

    @Test("say how to present, in the rooms that may be presented in")
    func presenting() {
        let links = RoomLinks(
            configuration {
                $0.furtherRooms = [
                    HostRoom(name: "attic", token: "other", presentingToken: "show"),
                    HostRoom(name: "hall", token: nil),
                ]
            }, addresses: loopback)
        #expect(links.presenting(in: "attic")?.link == "http://127.0.0.1:8080/#attic,show")
        #expect(links.presenting(in: "attic")?.url == "http://127.0.0.1:8080/whip/attic")
        #expect(links.presenting(in: "attic")?.token == "show")
        #expect(links.presenting(in: "hall") == nil && links.presenting(in: "cellar") == nil)
    }

    @Test("are all in one document, with when they end, and with presenters' tokens only where that is asked for")
    func document() throws {
        let links = RoomLinks(
            configuration {
                $0.furtherRooms = [HostRoom(name: "attic", token: "other", presentingToken: "show")]
                $0.advertised = [TransportAddress(ipv4: 203, 0, 113, 5, port: 9000)]
            }, addresses: loopback)
        let expiry = Date(timeIntervalSince1970: 1_795_262_400)
        let document = LinksDocument(links, expires: expiry, tellsPresenters: false)
        #expect(document.links == ["http://127.0.0.1:8080/#desk,secret", "http://203.0.113.5:8080/#desk,secret"])
        #expect(document.room == "desk" && document.rooms.map(\.name) == ["desk", "attic"])
        #expect(document.rooms.map(\.links) == [document.links, ["http://127.0.0.1:8080/#attic,other"]])
        #expect(document.json.contains("\"expires\":\"2026-11-21T12:00:00Z\"") && !document.json.contains("show"))
        #expect(LinksDocument(json: document.json) == document && LinksDocument(json: "{}") == nil)
        #expect(!document.json.contains("fingerprint"))
        let selfSigned = LinksDocument(links, expires: nil, fingerprint: "AB:CD", tellsPresenters: false)
        #expect(selfSigned.json.contains("\"fingerprint\":\"AB:CD\""))
        #expect(LinksDocument(json: selfSigned.json) == selfSigned)
        let withPresenters = LinksDocument(links, expires: nil, tellsPresenters: true)
        #expect(withPresenters.rooms.map(\.presenting?.token) == [nil, "show"])
        #expect(LinksDocument(json: withPresenters.json) == withPresenters)
    }
}
