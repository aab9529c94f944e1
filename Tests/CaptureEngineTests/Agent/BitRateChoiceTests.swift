import MediaTypes
import Testing

@testable import CaptureEngine

@Suite("The bit rate of a capture")
struct BitRateChoiceTests {
    private func megabits(_ count: Double) -> BitRate { BitRate(bitsPerSecond: Int(count * 1e6)) }

    private func rate(_ choice: BitRateChoice, _ width: Int, _ height: Int, fps: Int64 = 30) -> Double {
        let size = PictureSize(width: width, height: height)
        return Double(choice.rate(of: size, period: .seconds(1) / fps).bitsPerSecond) / 1e6
    }

    @Test(
        "without a setting it is 4 Mbit/s, and rises with what the paths have carried to a limit by size and frame rate"
    )
    func rises() {
        var choice = BitRateChoice(given: nil)
        #expect(rate(choice, 1920, 1080) == 4)
        choice.carried = megabits(6)
        #expect(rate(choice, 1920, 1080) == 6)
        choice.carried = megabits(90)
        #expect((12...12.5).contains(rate(choice, 1920, 1080)))
        #expect((24...25).contains(rate(choice, 1920, 1080, fps: 60)))
        #expect((5...6).contains(rate(choice, 1280, 720)))
        #expect(rate(choice, 640, 480) == 4)
        #expect((40...50).contains(rate(choice, 3840, 2160)))
        #expect(rate(choice, 15360, 8640, fps: 120) == 50)
        choice.carried = megabits(0)
        #expect(rate(choice, 1920, 1080) == 4)
    }

    @Test("the host's limit holds for each of these rates, and is at least 10 kbit/s")
    func limited() {
        var choice = BitRateChoice(given: nil)
        choice.carried = megabits(90)
        choice.limit = megabits(7)
        #expect(rate(choice, 1920, 1080) == 7)
        choice.limit = megabits(1)
        #expect(rate(choice, 1920, 1080) == 1)
        choice.limit = BitRate(bitsPerSecond: 1)
        #expect(rate(choice, 1920, 1080) == 0.01)
    }

    @Test("with a first rate it begins there, and rises with what the paths have carried to the other one")
    func first() {
        var choice = BitRateChoice(given: megabits(8), first: megabits(1))
        #expect(choice.beginning == megabits(1) && rate(choice, 640, 480) == 1)
        choice.carried = megabits(5)
        #expect(rate(choice, 640, 480) == 5)
        choice.carried = megabits(90)
        #expect(rate(choice, 640, 480) == 8)
        choice.limit = megabits(0.5)
        #expect(rate(choice, 640, 480) == 0.5)
    }

    @Test("a rate that the user has set is not exceeded, and not waited for", arguments: [0.6, 20])
    func given(most: Double) {
        var choice = BitRateChoice(given: megabits(most))
        #expect(rate(choice, 1920, 1080) == most)
        choice.carried = megabits(90)
        #expect(rate(choice, 1920, 1080) == most)
        choice.limit = megabits(0.5)
        #expect(rate(choice, 1920, 1080) == 0.5)
    }
}
