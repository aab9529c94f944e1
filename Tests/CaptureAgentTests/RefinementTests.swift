import Testing

@testable import CaptureAgent

@Suite("refinement")
struct RefinementTests {
    @Test("pictures go on after a coarse one until one is fine, also without a change")
    func untilFine() {
        var refinement = Refinement()
        let answers = [(40, true), (30, false), (20, false), (20, true)].map { quantizer, isChange in
            refinement.wantsAnother(quantizer: quantizer, isChange: isChange)
        }
        #expect(answers == [true, true, false, false])
    }

    @Test("what can't become fine is not tried for good, until something changes again")
    func givesUp() {
        var refinement = Refinement()
        var pictures = 0
        var isChange = true
        while refinement.wantsAnother(quantizer: 45, isChange: isChange), pictures < 1000 {
            pictures += 1
            isChange = false
        }
        #expect(pictures == Refinement.mostPictures)
        let stillGoesOn = refinement.wantsAnother(quantizer: 45, isChange: false)
        let goesOnAfterChange = refinement.wantsAnother(quantizer: 45, isChange: true)
        #expect(!stillGoesOn)
        #expect(goesOnAfterChange)
    }
}
