import MediaTypes
import OutputSettings
import Testing

@Suite("The settings of an output's video")
struct VideoSettingsTests {
    private func settings(
        _ profile: ProfileLevel, _ width: Int, _ height: Int, fps: Int = 30, kilobits: Int = 1000
    ) -> VideoSettings {
        var settings = VideoSettings()
        settings.profileLevel = profile
        settings.size = PictureSize(width: width, height: height)
        settings.framesPerSecond = fps
        settings.bitRate = BitRate(bitsPerSecond: kilobits * 1000)
        return settings
    }

    @Test(
        "each level takes what it says, upright too, and names its limit when it is exceeded",
        arguments: [
            (ProfileLevel.baseline30, 720, 480, 10_000), (.baseline31, 1280, 720, 14_000),
            (.baseline41, 1920, 1080, 50_000), (.main30, 720, 480, 10_000), (.main31, 1280, 720, 14_000),
            (.main32, 1280, 1024, 20_000), (.main41, 1920, 1080, 50_000), (.high40, 1920, 1080, 25_000),
            (.high41, 1920, 1080, 62_500),
        ])
    func limits(_ profile: ProfileLevel, _ width: Int, _ height: Int, _ kilobits: Int) throws {
        try settings(profile, width, height, kilobits: kilobits).check()
        try settings(profile, height, width, kilobits: kilobits).check()
        func refusal(_ settings: VideoSettings) -> String {
            let error = #expect(throws: OutputSettingsError.self) { try settings.check() }
            return error.map { "\($0)" } ?? ""
        }
        let name = "\(profile.rawValue) takes at most "
        let most = name + "\(width)x\(height), not "
        #expect(refusal(settings(profile, width + 2, height)) == most + "\(width + 2)x\(height)")
        #expect(refusal(settings(profile, height + 2, width)) == most + "\(height + 2)x\(width)")
        #expect(refusal(settings(profile, width, height, fps: 31)) == name + "30 fps, not 31")
        #expect(
            refusal(settings(profile, width, height, kilobits: kilobits + 1))
                == name + "\(kilobits) kbit/s, not \(kilobits + 1) kbit/s")
    }

    @Test("without a level, the size may be any")
    func anyLevel() throws {
        for profile in [ProfileLevel.baseline, .main, .high] {
            try settings(profile, 3840, 2160, fps: 60, kilobits: 90_000).check()
        }
    }

    @Test(
        "what no encoder takes is refused",
        arguments: [
            (\VideoSettings.framesPerSecond, 0), (\.framesPerSecond, 61), (\.picturesPerKeyFrame, 0),
            (\.picturesPerKeyFrame, 601), (\.bitRate.bitsPerSecond, 1000), (\.bitRate.bitsPerSecond, 200_000_000),
        ] as [(any WritableKeyPath<VideoSettings, Int> & Sendable, Int)])
    func senseless(_ path: any WritableKeyPath<VideoSettings, Int> & Sendable, _ value: Int) {
        var settings = VideoSettings()
        settings[keyPath: path] = value
        #expect(throws: OutputSettingsError.self) { try settings.check() }
    }

    @Test("the lowest rate is one below the highest")
    func lowest() throws {
        var settings = VideoSettings()
        for (rate, isRight) in [(200_000, true), (1_024_000, true), (1_025_000, false), (63_000, false)] {
            settings.lowestBitRate = BitRate(bitsPerSecond: rate)
            #expect(((try? settings.check()) != nil) == isRight, "\(rate)")
        }
    }

    @Test("the lowest number of pictures a second is 10 or more, and not above the highest")
    func lowestPictures() throws {
        var settings = VideoSettings()
        for (pictures, isRight) in [(10, true), (24, true), (9, false), (25, false)] {
            settings.lowestFramesPerSecond = pictures
            #expect(((try? settings.check()) != nil) == isRight, "\(pictures)")
        }
        settings.framesPerSecond = 5
        settings.lowestFramesPerSecond = 10
        #expect(throws: OutputSettingsError.self) { try settings.check() }
    }

    @Test("on a slow path the bit rate falls first, and below its floor the pictures become fewer")
    func pace() {
        func rate(_ kilobits: Int) -> BitRate { BitRate(bitsPerSecond: kilobits * 1000) }
        var adapting = settings(.high, 1280, 720, fps: 30, kilobits: 900)
        #expect(adapting.adaptation?.lowest == nil)
        adapting.lowestBitRate = rate(300)
        #expect(adapting.adaptation?.lowest == rate(300) && adapting.adaptation?.highest == rate(900))
        adapting.lowestFramesPerSecond = 10
        #expect(adapting.adaptation?.lowest == rate(100) && adapting.adaptation?.highest == rate(900))
        for (kilobits, bitRate, pictures) in [
            (900, 900, 30), (450, 450, 30), (300, 300, 30), (200, 300, 20), (100, 300, 10),
        ] {
            let pace = adapting.pace(at: rate(kilobits))
            #expect(pace.bitRate == rate(bitRate) && pace.framesPerSecond == pictures, "\(kilobits): \(pace)")
        }
        // With its bit rate fixed, the pictures fall at once.
        adapting.lowestBitRate = nil
        #expect(adapting.adaptation?.lowest == rate(300) && adapting.adaptation?.highest == rate(900))
        for (kilobits, pictures) in [(900, 30), (450, 15), (1, 10)] {
            let pace = adapting.pace(at: rate(kilobits))
            #expect(pace.bitRate == rate(900) && pace.framesPerSecond == pictures, "\(kilobits): \(pace)")
        }
    }

    @Test("all presets are within their limits, and lie as the source does")
    func presets() throws {
        for preset in VideoPreset.allCases {
            let settings = preset.settings
            try settings.check()
            let size = try #require(settings.size)
            #expect(settings.outputSize(for: PictureSize(width: 1080, height: 1920)) == size)
            #expect(
                settings.outputSize(for: PictureSize(width: 1920, height: 1080))
                    == PictureSize(width: size.height, height: size.width))
        }
        #expect(VideoPreset.allCases.count == 9)
    }
}
