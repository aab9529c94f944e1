import Foundation
import MediaTypes

/// What a page of text costs that moves by 12 pixels every thirtieth of a second, by the time since the picture before
/// it.
///
/// Measured with this program's own encoder and its scene `scroll`, 1920x1080: 33 ms apart at QP 22 to 25 a picture has
/// 2 to 16 kB, 7.5 kB on average; 50 to 60 ms apart at QP 28 it has 2 to 25 kB, 8 kB on average; 75 to 80 ms apart it
/// has 2 to 25 kB, 7 kB on average at QP 35, 6 kB at QP 46, and no less where it is coarser, as it is predicted from a
/// coarser one. After about 100 ms it costs what another page costs: 282 kB at QP 24, 171 kB at QP 34, 110 kB at QP 39.
/// What it costs comes again every ten pictures.
enum RecordedFlow {
    static let longestGap = Interval.milliseconds(95)
    /// What the page of that scene costs of the one in `RecordedSizes`.
    static let pageFactor = 1.7
    /// Of the average, ten pictures in a row.
    private static let parts = [0.4, 1.3, 0.9, 2.2, 1.0, 0.6, 0.3, 1.5, 1.1, 0.7]

    static func bytes(_ quantizer: Int, gap: Interval, number: Int) -> Double {
        let gap = max(gap.seconds, 0.033) / 0.033
        let steps = Double(min(quantizer, 46) - 24)
        return 7_500 * pow(gap, 0.5) * pow(0.965, steps) * parts[number % parts.count]
    }
}
