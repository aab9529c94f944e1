// Pushes an application's own pictures with a watermark: here, a bar that wanders over a grey ground.
//
//     swift run watermark URL        # rtmp://live.example/app/key, or file:marked.mkv
//
// The host encodes the pictures for its room, and the push encodes them once more with the mark in the corner, which
// the room doesn't show.

import Foundation
import MediaTypes
import Pushing
import ScreenRelayKit

@main
enum Watermark {
    private static let size = PictureSize(width: 640, height: 360)
    private static let picturesPerSecond = 24
    /// Each letter is a square of the mark.
    private static let mark = ["### ### ", "#   #  #", "### ### ", "  # # # ", "### #  #"]
    private static let squareSide = 4

    static func main() {
        guard CommandLine.arguments.count == 2 else {
            say("usage: watermark URL")
            exit(64)
        }
        do {
            try share(to: CommandLine.arguments[1])
        } catch {
            say("watermark: \(error)")
            exit(65)
        }
    }

    private static func share(to url: String) throws {
        // The room, and its track of pictures.
        let host = try ScreenRelayHost(HostConfiguration())
        let track = try CustomVideoTrack(picturesPerSecond: picturesPerSecond)
        guard host.firstTrack.publish(track) else { exit(70) }
        say(host.link)

        // The push, and what its pictures go through.
        var settings = PushSettings()
        settings.filter = { picture in drawMark(into: &picture) }
        let push = try Push(host.firstTrack, to: PushAddress(url), settings: settings) { event in
            switch event {
            case .changed(let state, let failure):
                say("the push is \(state)" + (failure.map { ": \($0)" } ?? ""))
            case .status, .weakNetwork: break
            }
        }
        push.start()

        // The pictures, one after another.
        var number = 0
        while push.failure == nil {
            track.write(picture: picture(number))
            number += 1
            Thread.sleep(forTimeInterval: 1 / Double(picturesPerSecond))
        }
        exit(69)
    }

    private static func picture(_ number: Int) -> I420Picture {
        let samples = size.width * size.height
        var picture = I420Picture(
            size: size, bytes: [UInt8](repeating: 90, count: samples) + [UInt8](repeating: 128, count: samples / 2),
            isFullRange: false, matrix: .bt709, captureTime: nil)
        for row in 0..<size.height {
            for column in 0..<40 { picture[.luma, (number * 4 + column) % size.width, row] = 160 }
        }
        return picture
    }

    /// Makes the mark's squares brighter, in the lower right corner; what is below shines through.
    private static func drawMark(into picture: inout I420Picture) {
        let left = picture.size.width - (mark[0].count + 2) * squareSide
        let top = picture.size.height - (mark.count + 2) * squareSide
        for (line, squares) in mark.enumerated() {
            for (place, square) in squares.enumerated() where square == "#" {
                for row in 0..<squareSide {
                    for column in 0..<squareSide {
                        let (x, y) = (left + place * squareSide + column, top + line * squareSide + row)
                        picture[.luma, x, y] = picture[.luma, x, y] / 2 + 117
                    }
                }
            }
        }
    }

    /// Unlike `print`, also into a pipe at once.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
