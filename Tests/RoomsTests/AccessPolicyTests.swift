import Rooms
import Testing

private let host = MemberID("host")
private let ann = MemberID("ann")
private let ben = MemberID("ben")

@Suite("Who may do what in a room")
struct AccessPolicyTests {
    private let policy = AccessPolicy(viewing: AccessToken("view"), presenting: AccessToken("present"), expiry: 100)
    private let guarded = AccessPolicy(
        viewing: AccessToken("view"), presenting: AccessToken("present"), isPassword: { $0 == "open sesame" })

    @Test("the token for viewing lets view, the one for presenting both, and any other one nothing")
    func tokens() {
        #expect(policy.grant(token: "view", password: nil, now: 0) == .viewing)
        #expect(policy.grant(token: "present", password: nil, now: 0) == .presenting)
        for token in ["", "vie", "views", "presen", "viewpresent", "no room answers to this token"] {
            #expect(policy.grant(token: token, password: nil, now: 0) == .refused)
        }
    }

    @Test("a room without a token for viewing is open to view, and still not to present")
    func open() {
        let open = AccessPolicy(viewing: nil, presenting: AccessToken("present"))
        #expect(open.isOpen)
        #expect(open.grant(token: "", password: nil, now: 0) == .viewing)
        #expect(open.grant(token: "whatever", password: nil, now: 0) == .viewing)
        #expect(open.grant(token: "present", password: nil, now: 0) == .presenting)
        #expect(AccessPolicy(viewing: nil).grant(token: "", password: nil, now: 0) == .viewing)
        #expect(
            AccessPolicy(viewing: AccessToken("view")).grant(
                token: "no room answers to this token", password: nil, now: 0) == .refused)
    }

    @Test("from its time on a room refuses both tokens, as if there were none")
    func expiry() {
        #expect(policy.grant(token: "view", password: nil, now: 99) == .viewing)
        for now in [100, 101, .max] {
            #expect(policy.grant(token: "view", password: nil, now: now) == .refused)
            #expect(policy.grant(token: "present", password: nil, now: now) == .refused)
        }
    }

    @Test("a password is asked for where the token is right, whichever it is")
    func password() {
        for (token, grant) in [("view", AccessGrant.viewing), ("present", .presenting)] {
            for password in [nil, "", "open", "open sesame!"] {
                #expect(guarded.grant(token: token, password: password, now: 0) == .needsPassword)
            }
            #expect(guarded.grant(token: token, password: "open sesame", now: 0) == grant)
        }
        #expect(guarded.grant(token: "wrong", password: "open sesame", now: 0) == .refused)
        let open = AccessPolicy(viewing: nil, isPassword: { $0 == "open sesame" })
        #expect(!open.isOpen)
        #expect(open.grant(token: "", password: nil, now: 0) == .needsPassword)
        #expect(open.grant(token: "", password: "open sesame", now: 0) == .viewing)
    }

    @Test("a password is not even looked at where the token is wrong, or where it is longer than any")
    func unseen() {
        let policy = AccessPolicy(viewing: AccessToken("view"), isPassword: { _ in true })
        #expect(policy.grant(token: "wrong", password: "x", now: 0) == .refused)
        let longest = String(repeating: "x", count: AccessPolicy.passwordLimit)
        #expect(policy.grant(token: "view", password: longest, now: 0) == .viewing)
        #expect(policy.grant(token: "view", password: longest + "x", now: 0) == .needsPassword)
    }

    @Test("a key in one text has room, token and password, and the password may have commas")
    func keys() {
        #expect(RoomKey("desk,secret") == RoomKey(room: "desk", token: "secret"))
        #expect(RoomKey("desk,secret,a,b") == RoomKey(room: "desk", token: "secret", password: "a,b"))
        #expect(RoomKey("desk,,a") == RoomKey(room: "desk", token: "", password: "a"))
    }
}

@Suite("Rooms with rules")
struct GuardedRoomTests {
    private func directory(memberLimit: Int = .max) -> RoomDirectory {
        let access = AccessPolicy(
            viewing: AccessToken("view"), presenting: AccessToken("present"), expiry: 100, isPassword: { $0 == "pass" })
        return RoomDirectory(
            [RoomDefinition(name: "desk", access: access, host: host)], memberLimit: memberLimit)
    }

    @Test("who has the token and no password is told so, and nobody else is")
    func needsPassword() {
        var rooms = directory()
        #expect(rooms.handle(.join(ann, RoomKey("desk,view"), .viewer)) == [.refuse(ann, .needsPassword)])
        #expect(rooms.handle(.join(ann, RoomKey("desk,view,wrong"), .viewer)) == [.refuse(ann, .needsPassword)])
        #expect(rooms.handle(.join(ann, RoomKey("desk,wrong,pass"), .viewer)) == [.refuse(ann, .notAdmitted)])
        #expect(rooms.handle(.join(ann, RoomKey("attic,view,pass"), .viewer)) == [.refuse(ann, .notAdmitted)])
        #expect(
            rooms.handle(.join(ann, RoomKey("desk,view,pass"), .viewer)).contains(.joined(ann, room: "desk", .viewer)))
    }

    @Test("what a key is good for can be asked without joining")
    func grants() {
        let rooms = directory()
        #expect(rooms.grant(to: RoomKey("desk,present,pass")).grant == .presenting)
        #expect(rooms.grant(to: RoomKey("desk,present,pass")).room?.name == "desk")
        #expect(rooms.grant(to: RoomKey("desk,present")).grant == .needsPassword)
        #expect(rooms.grant(to: RoomKey("desk,present")).room == nil)
        #expect(rooms.grant(to: RoomKey("attic,present,pass")).grant == .refused)
        #expect(rooms.grant(to: RoomKey("desk,view,pass")).room?.name == "desk")
        #expect(rooms.grant(to: RoomKey("desk,view")).room == nil)
    }

    @Test("other rules are for those who come later; who is inside stays")
    func replaced() {
        var rooms = directory()
        _ = rooms.handle(.join(ann, RoomKey("desk,view,pass"), .viewer))
        rooms.use(AccessPolicy(viewing: AccessToken("other")), for: "desk")
        rooms.use(AccessPolicy(viewing: nil), for: "attic")
        #expect(rooms.place(of: ann)?.room == "desk")
        #expect(rooms.grant(to: RoomKey("desk,view,pass")).grant == .refused)
        #expect(rooms.grant(to: RoomKey("desk,other")).grant == .viewing)
        #expect(rooms.grant(to: RoomKey("attic")).grant == .refused)
    }

    @Test("when its time is over those inside are removed, once, and nobody comes in any more")
    func expiry() {
        var rooms = directory()
        #expect(rooms.advance(to: 10) == [])
        _ = rooms.handle(.addTrack(.screen, room: "desk"))
        _ = rooms.handle(.join(ann, RoomKey("desk,view,pass"), .viewer))
        _ = rooms.handle(.join(ben, RoomKey("desk,view,pass"), .peer))
        _ = rooms.handle(.offer(from: ann, to: host, sdp: "v=0"))
        #expect(rooms.advance(to: 99) == [])
        #expect(!rooms.hasExpired("desk"))
        let actions = rooms.advance(to: 100)
        #expect(actions == [.closeSession(ann, track: .screen), .refuse(ann, .expired), .refuse(ben, .expired)])
        #expect(rooms.hasExpired("desk"))
        #expect(rooms.memberCount(in: "desk") == 0)
        #expect(rooms.advance(to: 101) == [])
        #expect(rooms.handle(.join(ann, RoomKey("desk,view,pass"), .viewer)) == [.refuse(ann, .notAdmitted)])
    }

    @Test("a room takes so many members")
    func full() {
        var rooms = directory(memberLimit: 1)
        let key = RoomKey("desk,view,pass")
        #expect(rooms.handle(.join(ann, key, .viewer)).contains(.joined(ann, room: "desk", .viewer)))
        #expect(rooms.handle(.join(ben, key, .viewer)) == [.refuse(ben, .full)])
        #expect(rooms.handle(.join(ann, key, .viewer)).contains(.joined(ann, room: "desk", .viewer)))
    }
}
