import H264
import MediaTypes
import TestSupport
import Testing

@Suite("Parameter sets")
struct ParameterSetTests {
    @Test("a Baseline SPS tells size, colour and order")
    func baseline() throws {
        let sps = try SequenceParameterSet(nalUnit: Samples.baselineSPS[...])
        #expect(sps.profileLevelID.hexText == "42c028")
        #expect(sps.size == PictureSize(width: 1920, height: 1080))
        #expect(sps.codedSize == PictureSize(width: 1920, height: 1088))
        #expect(sps.isFrameOnly)
        #expect(sps.pictureOrderCountType == 2)
        #expect(sps.maxReorderedPictures == 0)
        #expect(sps.usability?.isFullRange == true)
        #expect(sps.usability?.colour?.primaries == 1)
        #expect(sps.usability?.colour?.transferCharacteristics == 1)
        #expect(sps.usability?.colour?.matrixCoefficients == 1)
        #expect(sps.usability?.timing?.timeScale == 60)
        #expect(sps.usability?.timing?.unitsInTick == 1)
    }

    @Test("an SPS can ask decoders to keep more frames, and says all else as before")
    func keepsMore() throws {
        let old = try SequenceParameterSet(nalUnit: Samples.baselineSPS[...])
        for count in 1...4 {
            let edited = try #require(
                SequenceParameterSet.nalUnit(Samples.baselineSPS, withReferenceFrames: count))
            let new = try SequenceParameterSet(nalUnit: edited[...])
            #expect(new.maxReferenceFrames == count)
            #expect(new.usability?.maxBufferedPictures == max(count, old.maxReferenceFrames))
            #expect(new.size == old.size && new.usability?.timing == old.usability?.timing)
            #expect(new.usability?.maxReorderedPictures == 0)
        }
        #expect(SequenceParameterSet.nalUnit(Samples.baselineSPS, withReferenceFrames: 3) == Samples.baselineSPS)
        // Of these, decoders of the level needn't keep so many, or the fields are elsewhere.
        #expect(SequenceParameterSet.nalUnit(Samples.baselineSPS, withReferenceFrames: 5) == nil)
        #expect(SequenceParameterSet.nalUnit(Samples.highSPS, withReferenceFrames: 2) == nil)
        var small = Samples.baselineSPS
        small[3] = 11
        #expect(SequenceParameterSet.nalUnit(small, withReferenceFrames: 2) == nil)
        for count in 0..<Samples.baselineSPS.count {
            let cut = Array(Samples.baselineSPS.prefix(count))
            #expect(SequenceParameterSet.nalUnit(cut, withReferenceFrames: 2) == nil)
        }
    }

    @Test("a High SPS tells that pictures are reordered")
    func high() throws {
        let sps = try SequenceParameterSet(nalUnit: Samples.highSPS[...])
        #expect(sps.profileLevelID.hexText == "64001e")
        #expect(sps.size == PictureSize(width: 640, height: 360))
        #expect(sps.codedSize == PictureSize(width: 640, height: 368))
        #expect(sps.chromaFormatIDC == 1)
        #expect(sps.lumaBitDepth == 8)
        #expect(sps.maxReorderedPictures == 2)
        #expect(sps.usability?.isFullRange == nil)
    }

    @Test("an interlaced SPS with HRD parameters is read to its end")
    func interlaced() throws {
        let sps = try SequenceParameterSet(nalUnit: Samples.interlacedSPS[...])
        #expect(sps.profileLevelID.hexText == "4d4020")
        #expect(sps.size == PictureSize(width: 1280, height: 720))
        #expect(!sps.isFrameOnly)
        #expect(sps.maxReorderedPictures == 0)
    }

    @Test("a PPS tells its SPS and its entropy coding")
    func pictures() throws {
        let baseline = try PictureParameterSet(nalUnit: Samples.baselinePPS[...])
        #expect(baseline.id == 0)
        #expect(baseline.sequenceParameterSetID == 0)
        #expect(!baseline.usesCABAC)
        #expect(baseline.sliceGroups == 1)
        #expect(try PictureParameterSet(nalUnit: Samples.highPPS[...]).usesCABAC)
    }

    @Test("the store keeps the latest of each id, SPS first")
    func store() throws {
        var sets = ParameterSets()
        #expect(!sets.isUsable)
        #expect(try sets.insert(Samples.baselinePPS[...]))
        #expect(!sets.isUsable)
        #expect(try sets.insert(Samples.baselineSPS[...]))
        #expect(sets.isUsable)
        #expect(try !sets.insert(Samples.baselineSPS[...]))
        #expect(sets.nalUnits == [Samples.baselineSPS, Samples.baselinePPS])
        #expect(try sets.insert(Samples.highSPS[...]))
        #expect(sets.nalUnits == [Samples.highSPS, Samples.baselinePPS])
        #expect(sets.latestSequence?.size == PictureSize(width: 640, height: 360))
        #expect(throws: H264Error.unexpectedType(.idrSlice)) { try sets.insert(Samples.baselineIDR[...]) }
        #expect(throws: H264Error.truncated) { try sets.insert([]) }
        #expect(sets.count == 2)
    }

    @Test("a parameter set past the limit is not stored")
    func tooLong() {
        var sets = ParameterSets()
        let long = Samples.baselineSPS + [UInt8](repeating: 1, count: ParameterSets.sequenceLimit)
        #expect(throws: H264Error.tooLong(count: long.count, limit: ParameterSets.sequenceLimit)) {
            try sets.insert(long[...])
        }
        #expect(sets.count == 0)
    }

    @Test("all parameter sets together have a limit, and the one that passes it is not stored")
    func tooLongTogether() throws {
        var sets = ParameterSets()
        let padding = [UInt8](repeating: 0x55, count: 60_000)
        // ue(v) of ids 0, 1 and 2 in front of the bits of a PPS.
        let units: [[UInt8]] = [
            [0x68, 0xCB, 0x83, 0xCB, 0x20], [0x68, 0x52, 0xE0, 0xF2, 0xC8], [0x68, 0x72, 0xE0, 0xF2, 0xC8],
        ]
        for unit in units.prefix(2) { try sets.insert((unit + padding)[...]) }
        #expect(sets.pictureParameterSet(1) != nil)
        #expect(throws: H264Error.tooLong(count: 180_015, limit: ParameterSets.totalLimit)) {
            try sets.insert((units[2] + padding)[...])
        }
        #expect(sets.count == 2)
        // In place of one that is there, there is room.
        #expect(try sets.insert((units[1] + padding.dropLast())[...]))
    }

    @Test("a picture of more than 16384 pixels a side is refused")
    func tooLarge() {
        // Baseline, level 1, then ue: id 0, frame_num 0, POC type 2, one reference, gap flag, width 1025 macroblocks.
        let bits = "1" + "1" + "011" + "010" + "0" + "000000000010000000001" + "1" + "1" + "1" + "0" + "0" + "1"
        var bytes: [UInt8] = [0x67, 66, 0, 10]
        for start in stride(from: 0, to: bits.count, by: 8) {
            let part = bits.dropFirst(start).prefix(8)
            bytes.append(
                UInt8((part + String(repeating: "0", count: 8 - part.count)).utf8.reduce(0) { $0 * 2 + ($1 & 1) }))
        }
        #expect(throws: H264Error.outOfRange(element: "pic_width_in_mbs_minus1", value: 1024)) {
            try SequenceParameterSet(nalUnit: bytes[...])
        }
    }

    @Test("no prefix and no mutation of a parameter set brings anything down")
    func robustness() {
        var random = SeededRandom(seed: 3)
        let samples = [
            Samples.baselineSPS, Samples.highSPS, Samples.interlacedSPS, Samples.baselinePPS, Samples.highPPS,
        ]
        for sample in samples {
            for end in 0..<sample.count {
                var sets = ParameterSets()
                _ = try? sets.insert(sample[..<end])
            }
            for _ in 0..<1_000 {
                var sets = ParameterSets()
                _ = try? sets.insert(random.mutation(of: sample)[...])
                if let size = sets.latestSequence?.size {
                    #expect((1...SequenceParameterSet.sizeLimit).contains(size.width))
                    #expect((1...SequenceParameterSet.sizeLimit).contains(size.height))
                }
            }
        }
    }
}
