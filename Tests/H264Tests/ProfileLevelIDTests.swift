import H264
import Testing

@Suite("Profiles and levels")
struct ProfileLevelIDTests {
    private func id(_ text: String) throws -> ProfileLevelID { try #require(ProfileLevelID(hexText: text)) }

    @Test(
        "the profile of RFC 6184 table 5",
        arguments: [
            ("42c01f", Profile.constrainedBaseline), ("42e01f", .constrainedBaseline), ("4d801f", .constrainedBaseline),
            ("58c01f", .constrainedBaseline), ("42001f", .baseline), ("58801f", .baseline), ("4d001f", .main),
            ("4d401f", .main), ("42801e", .baseline), ("58001f", .extended), ("640c1f", .constrainedHigh),
            ("64001f", .high),
        ])
    func profiles(text: String, profile: Profile) throws {
        #expect(try id(text).profile == profile)
    }

    @Test("a profile without a name in that table is compatible with itself alone")
    func foreign() throws {
        #expect(try id("7a001f").profile == nil)
        #expect(try id("7a001f").isSameProfile(as: id("7a0028")))
        #expect(try !id("7a001f").isSameProfile(as: id("6e001f")))
        #expect(try !id("7a001f").decodesProfile(of: id("6e001f")))
        #expect(try !id("7a001f").decodesProfile(of: .constrainedBaseline))
    }

    @Test("hexadecimal text is read in both cases and written in lower case")
    func text() throws {
        #expect(try id("42E01F").hexText == "42e01f")
        #expect(try id("00000a").hexText == "00000a")
        for bad in ["", "42e01", "42e01f0", "42e0zz", "+2e01f", "-2e01f", " 2e01f"] {
            #expect(ProfileLevelID(hexText: bad) == nil)
        }
    }

    @Test("a decoder decodes what its profile includes, up to its level")
    func decoding() throws {
        #expect(try id("42e01f").isSameProfile(as: id("42c028")))
        #expect(try !id("42e01f").isSameProfile(as: id("42001f")))
        #expect(try id("42e01f").decodes(id("42c01f")))
        #expect(try !id("42e01f").decodes(id("42c028")))
        #expect(try id("42e01f").decodesProfile(of: id("42c028")))
        #expect(try !id("42e01f").decodes(id("42001f")))
        #expect(try id("64001f").decodes(id("42e01f")))
        #expect(try id("64001f").decodes(id("4d001f")))
        #expect(try !id("64001f").decodes(id("42001f")))
        #expect(try !id("4d001f").decodes(id("64001f")))
    }

    @Test("level 1b stands between 1 and 1.1")
    func level1b() throws {
        #expect(try id("42f00b").isLevel1b)
        #expect(try !id("42e00b").isLevel1b)
        #expect(try id("42e00b").decodes(id("42f00b")))
        #expect(try !id("42f00b").decodes(id("42e00b")))
        #expect(try id("42f00b").decodes(id("42e00a")))
    }
}
