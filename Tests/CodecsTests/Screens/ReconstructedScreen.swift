@testable import X264Encoding

extension ScreenEncoder {
    /// The last picture as viewers see it, planar and without margins, `width` by `height`.
    func reconstructedPicture(width: Int, height: Int) -> [UInt8] {
        guard let picture = reference else { return [] }
        var bytes: [UInt8] = []
        for index in 0..<picture.planeCount {
            let plane = picture.plane(index)
            let isInterleaved = plane.lumaRows == 2
            for first in 0..<(isInterleaved ? 2 : 1) {
                for row in 0..<height / plane.lumaRows {
                    for column in 0..<(isInterleaved ? width / 2 : width) {
                        bytes.append(plane.base[row * plane.stride + (isInterleaved ? 2 * column + first : column)])
                    }
                }
            }
        }
        return bytes
    }
}
