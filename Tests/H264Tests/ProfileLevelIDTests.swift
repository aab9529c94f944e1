import H264
import MediaTypes
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
            ("64001f", .high), ("f4001f", .high444Predictive), ("f40028", .high444Predictive),
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

    @Test("4:4:4 decoders decode High and what is in it; nobody else decodes 4:4:4")
    func high444() throws {
        for text in ["64001f", "640c1f", "4d001f", "42e01f", "f4001f"] {
            #expect(try ProfileLevelID.high444Predictive.decodesProfile(of: id(text)))
        }
        for text in ["42001f", "58001f", "7a001f"] {
            #expect(try !ProfileLevelID.high444Predictive.decodesProfile(of: id(text)))
        }
        for text in ["64001f", "42e01f", "7a001f"] {
            #expect(try !id(text).decodesProfile(of: .high444Predictive))
        }
    }

    @Test("an access unit's format is that of its first SPS")
    func ofAccessUnit() throws {
        func unit(_ nalUnits: [UInt8]...) -> CodedFrame {
            var bytes: [UInt8] = []
            var ranges: [Range<Int>] = []
            for nalUnit in nalUnits {
                bytes += [0, 0, 0, 1] + nalUnit
                ranges.append(bytes.count - nalUnit.count..<bytes.count)
            }
            return CodedFrame(h264: bytes, units: ranges, captureTime: nil)
        }
        let sps: [UInt8] = [0x67, 0xF4, 0x00, 0x1F, 0x91]
        #expect(
            unit([0x09, 0x10], sps, [0x68, 0xCE], [0x65, 0x88]).format == TrackFormat(codec: .h264, chroma: .yuv444))
        #expect(unit([0x68, 0xCE], [0x65, 0x88]).format == nil)
        #expect(unit().format == nil)
        for count in 0..<4 { #expect(unit(Array(sps.prefix(count)), [0x65, 1]).format == nil) }
        let lying = CodedFrame(h264: sps + [0x65], units: [0..<9, 7..<8, 2..<2, 5..<6], captureTime: nil)
        #expect(lying.isRandomAccess && lying.format == nil)
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
