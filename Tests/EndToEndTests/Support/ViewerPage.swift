import BrowserDriver
import Foundation
import MediaTypes
import TestScene
import TestSupport
import Testing

/// A page that shows a shared desktop in its large picture, or its first video, and what can be seen there.
struct ViewerPage {
    let page: Page

    /// Returns the video's picture now as base64 of its RGBA bytes, scaled to `width` columns at most.
    private static let pictureScript = """
        (mostColumns => {
          const video = document.querySelector('#video') ?? document.querySelector('video');
          if (!video || !video.videoWidth || video.readyState < 2) return null;
          const scale = Math.min(1, mostColumns / video.videoWidth);
          const canvas = document.createElement('canvas');
          canvas.width = Math.round(video.videoWidth * scale);
          canvas.height = Math.round(video.videoHeight * scale);
          const context = canvas.getContext('2d', { willReadFrequently: true });
          context.drawImage(video, 0, 0, canvas.width, canvas.height);
          const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
          let text = '';
          for (let from = 0; from < bytes.length; from += 8192)
            text += String.fromCharCode.apply(null, bytes.subarray(from, from + 8192));
          return { width: canvas.width, height: canvas.height, rgba: btoa(text) };
        })
        """

    /// Opens `link` in a new page of `browser`, which checks its pictures if `checksPictures` is true.
    init(_ link: String, in browser: Browser, checksPictures: Bool = false) throws {
        page = try browser.newPage("about:blank")
        if checksPictures { try page.checkPictures() }
        try page.keepConnections()
        try page.navigate(link)
    }

    /// Wraps a page that shows its video in another way.
    init(_ page: Page) {
        self.page = page
    }

    /// What the video shows now, scaled to at most that many columns; nil before there is a picture.
    func picture(columns: Int = 4096) throws -> ScenePicture? {
        Self.picture(try page.evaluate(Self.pictureExpression(columns: columns)))
    }

    /// The expression whose value ``picture(_:)`` reads.
    static func pictureExpression(columns: Int) -> String { "\(pictureScript)(\(columns))" }

    /// The picture in a value of ``pictureExpression(columns:)``; nil if the video had none.
    static func picture(_ value: JSONValue) -> ScenePicture? {
        guard let width = value["width"].int, let height = value["height"].int, let text = value["rgba"].string,
            let data = Data(base64Encoded: text)
        else { return nil }
        return ScenePicture(bytes: [UInt8](data), width: width, height: height, bytesPerPixel: 4)
    }

    /// The scene's counter as the video shows it; nil if it shows none.
    func counter() throws -> Int? {
        try picture(columns: 320).flatMap(PatchScene.counterValue(in:))
    }

    /// Waits until the page plays.
    func waitUntilPlaying(within limit: Duration = .seconds(90)) throws {
        do {
            try page.waitUntil("window.screenRelay && window.screenRelay.phase === 'playing'", within: limit)
        } catch {
            let state = try page.evaluate("JSON.stringify(window.screenRelay)").string ?? "nothing"
            let title = try page.evaluate("document.body.innerText").string ?? ""
            throw NotPlaying(state: state, text: title, console: page.consoleMessages.map(\.description))
        }
    }

    /// Waits until the counter is past `value` (0 for any), and returns it.
    @discardableResult
    func waitForCounter(past value: Int, within limit: Interval = .seconds(90)) throws -> Int {
        try eventually("a counter past \(value)", within: limit) {
            try counter().flatMap { $0 > value ? $0 : nil }
        }
    }

    /// Expects the counter to go up by `steps` pictures or more from now.
    func expectMotion(by steps: Int = 5, within limit: Interval = .seconds(90)) throws {
        let before = try waitForCounter(past: -1, within: limit)
        try waitForCounter(past: before + steps - 1, within: limit)
    }

    /// A number of the first incoming video in the statistics of connection `index`; nil if there is none.
    func statistic(_ name: String, ofConnection index: Int = 0) throws -> Double? {
        try page.evaluate(
            """
            (async () => {
              const report = await window.connections[\(index)].getStats();
              for (const entry of report.values())
                if (entry.type === 'inbound-rtp' && entry.kind === 'video') return entry['\(name)'] ?? null;
              return null;
            })()
            """
        ).number
    }

    /// Numbers of the first incoming video, all of the same moment; 0 for those that don't exist.
    func statistics(_ names: [String], ofConnection index: Int = 0) throws -> [Double] {
        let text = try allStatistics(ofConnection: index)
        let entry = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return names.map { (entry?[$0] as? NSNumber)?.doubleValue ?? 0 }
    }

    /// All numbers of the first incoming video.
    func allStatistics(ofConnection index: Int = 0) throws -> String {
        let value = try page.evaluate(
            """
            (async () => {
              const report = await window.connections[\(index)].getStats();
              for (const entry of report.values())
                if (entry.type === 'inbound-rtp' && entry.kind === 'video') return JSON.stringify(entry);
              return '';
            })()
            """)
        return value.string ?? ""
    }

    /// Expects the browser to have checked at least `count` of its pictures, and each to be what the host meant.
    func expectRightPictures(
        atLeast count: Int, within limit: Interval = .seconds(90), sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try eventually("\(count) checked pictures", within: limit) {
            let found = try page.checkedPictures()
            return found.count >= count ? found : nil
        }
        #expect(found.damage < 0.001, "\(found)", sourceLocation: sourceLocation)
    }

    /// How often the page has reconnected by itself.
    func reconnects() throws -> Int? { try page.evaluate("window.screenRelay.reconnects").int }
}

/// The error if the page doesn't play, with what the page says.
struct NotPlaying: Error, CustomStringConvertible {
    let state: String
    let text: String
    let console: [String]
    var description: String { "the page doesn't play: \(state), '\(text)', console: \(console)" }
}

/// Expects each patch of the scene to have the colour that was drawn, within 8 of 255 for each component.
func expectPatches(in picture: ScenePicture, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
    for (index, patch) in PatchScene.patches.enumerated() {
        guard let seen = PatchScene.color(ofPatch: index, in: picture) else {
            Issue.record("\(what) has no patch \(patch.name)", sourceLocation: sourceLocation)
            continue
        }
        let parts = [
            (seen.red, patch.color.red), (seen.green, patch.color.green), (seen.blue, patch.color.blue),
        ]
        let worst = parts.map { abs(Int($0.0) - Int($0.1)) }.max() ?? 0
        #expect(worst <= 8, "\(what): \(patch.name) is \(seen), drawn \(patch.color)", sourceLocation: sourceLocation)
    }
}
