import BrowserDriver
import MediaTypes
import TestSupport
import Testing

extension EndToEndInBrowser {
    /// The page in a Chromium that has the screen of a phone, and fingers instead of a mouse.
    @Suite("The page on a phone", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserPhoneTests {
        /// What is wrong with the places of the controls, which this shows; empty if nothing is.
        private static let faults = """
            (() => {
              document.dispatchEvent(new PointerEvent('pointermove'));
              const faults = [];
              scrollTo(1000, 0);
              const { scrollWidth } = document.documentElement;
              if (scrollX !== 0 || scrollWidth > innerWidth || visualViewport.scale !== 1)
                faults.push(`the page scrolls: ${scrollX} ${scrollWidth} ${innerWidth} ${visualViewport.scale}`);
              for (const one of document.querySelectorAll('#bar button, .panel:not([hidden])')) {
                if (!one.checkVisibility()) continue;
                const { left, top, right, bottom, width, height } = one.getBoundingClientRect();
                if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight)
                  faults.push(`${one.id} is outside: ${left} ${top} ${right} ${bottom}`);
                if (!one.closest('#bar')) continue;
                if (Math.min(width, height) < 44) faults.push(`${one.id} is small: ${width} ${height}`);
                const hit = document.elementFromPoint(left + width / 2, top + height / 2);
                if (!one.contains(hit)) faults.push(`${one.id} is covered by ${hit?.id}`);
              }
              return faults.join(', ');
            })()
            """

        private func open(_ link: String, on screen: PictureSize) throws -> Page {
            let page = try Browser.shared().newPage("about:blank")
            try page.send(
                "Emulation.setDeviceMetricsOverride",
                [
                    "width": .number(Double(screen.width)), "height": .number(Double(screen.height)),
                    "deviceScaleFactor": 2, "mobile": true,
                ])
            try page.send("Emulation.setTouchEmulationEnabled", ["enabled": true])
            try page.navigate(link)
            try ViewerPage(page).waitUntilPlaying()
            return page
        }

        /// Touches a place, by default in the picture; the events' times make the tap short, however long the machine
        /// takes.
        private func touch(_ place: JSONValue = ["x": 200, "y": 300], on page: Page) throws {
            let time = try #require(try page.evaluate("Date.now() / 1000").number)
            for (type, points, delay) in [("touchStart", [place], 0), ("touchEnd", [], 0.05)]
                as [(String, JSONValue, Double)]
            {
                try page.send(
                    "Input.dispatchTouchEvent",
                    ["type": .string(type), "touchPoints": points, "timestamp": .number(time + delay)])
            }
        }

        /// Taps a control until `condition` holds. The bar hides by itself, on a busy machine also before the tap.
        private func tap(_ id: String, on page: Page, until condition: String) throws {
            try eventually(
                "a tap on \(id)",
                holds: {
                    if try page.evaluate(condition).isTruthy { return true }
                    let place = try page.evaluate(
                        """
                        (() => {
                          document.dispatchEvent(new PointerEvent('pointermove'));
                          const { left, top, width, height } = document.getElementById('\(id)').getBoundingClientRect();
                          return { x: left + width / 2, y: top + height / 2 };
                        })()
                        """)
                    try touch(place, on: page)
                    return (try? page.waitUntil(condition, within: .seconds(2))) != nil
                })
        }

        @Test(
            "nothing is beside the screen, and every control can be tapped", .timeLimit(.minutes(5)),
            arguments: [PictureSize(width: 320, height: 568), PictureSize(width: 844, height: 390)])
        func taps(on screen: PictureSize) throws {
            let desktop = try SharedDesktop()
            let page = try open(desktop.link, on: screen)
            try page.waitUntil(
                """
                screenRelay.figures.includes('fps') && ['figures', 'size', 'people-button', 'meet'].every((id) =>
                  document.getElementById(id)?.hidden === false)
                """)
            #expect(try page.evaluate(Self.faults).string == "")
            try tap("size", on: page, until: "screenRelay.mode === 'fill'")
            #expect(try page.evaluate(Self.faults).string == "", "while the picture is larger than the screen")
            try tap("figures", on: page, until: "!document.getElementById('charts').hidden")
            #expect(try page.evaluate(Self.faults).string == "", "while the charts are open")
            try tap("charts-close", on: page, until: "document.getElementById('charts').hidden")
            try tap("people-button", on: page, until: "document.getElementById('own-name') !== null")
            #expect(try page.evaluate(Self.faults).string == "", "while the list of people is open")
            try tap("people-button", on: page, until: "document.getElementById('people').hidden")
            try tap("help", on: page, until: "document.getElementById('keys').open")
            try tap("keys-close", on: page, until: "!document.getElementById('keys').open")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        @Test(
            "a tap shows and hides the bar, and all text is Chinese for who asks for that", .timeLimit(.minutes(5)))
        func chinesePhone() throws {
            let desktop = try SharedDesktop()
            let page = try open(
                desktop.link.replacing("#", with: "?lang=zh#"), on: PictureSize(width: 390, height: 844))
            #expect(try page.evaluate("document.documentElement.lang").string == "zh-Hans")
            #expect(try page.evaluate("document.getElementById('status').textContent").string == "直播中")
            #expect(try page.evaluate("document.getElementById('fullscreen').title").string == "全屏 (F)")
            try page.waitUntil("document.getElementById('people-button')?.hidden === false")
            for id in ["help", "figures", "people-button"] {
                try page.evaluate("document.getElementById('\(id)').click()")
            }
            try page.waitUntil("document.getElementById('own-name') !== null")
            // All text that is read or read out has Chinese in it, except for names, figures and keys.
            let latin = try page.evaluate(
                """
                (() => {
                  const texts = [document.title];
                  for (const one of document.querySelectorAll('body *')) {
                    for (const name of ['aria-label', 'title', 'alt', 'placeholder', 'aria-valuetext'])
                      if (one.hasAttribute(name)) texts.push(one.getAttribute(name));
                    if (['KBD', 'SCRIPT', 'NOSCRIPT'].includes(one.localName.toUpperCase())) continue;
                    for (const node of one.childNodes) if (node.nodeType === Node.TEXT_NODE) texts.push(node.data.trim());
                  }
                  return texts.filter((text) => /[a-z]{2}/i.test(text) && !/[\\u4e00-\\u9fff]/.test(text)
                    && !/^[\\d.]+ (ms|fps|[kM]?bit\\/s)$|ScreenRelay$/.test(text)).join('|');
                })()
                """)
            #expect(latin.string == "")
            // A phone has no keys to list.
            #expect(try page.evaluate("document.getElementById('keys-title').textContent").string == "手势")
            #expect(try page.evaluate("document.querySelectorAll('#keys-list dt').length").int == 4)
            for id in ["keys-close", "people-button"] {
                try page.evaluate("document.getElementById('\(id)').click()")
            }

            let idle = "document.getElementById('stage').classList.contains('idle')"
            try page.waitUntil(idle, within: .seconds(6))
            try touch(on: page)
            try page.waitUntil("!\(idle)")
            // On a busy machine the bar may have gone by itself before the second tap, which then brings it back.
            var isHiddenByTap = false
            for _ in 0..<5 where !isHiddenByTap {
                // A second tap soon after the first would mean something else.
                try page.settle(for: .milliseconds(500))
                let wasShown = try page.evaluate("!\(idle)").bool == true
                try touch(on: page)
                let changed = try? page.waitUntil("\(idle) === \(wasShown)", within: .seconds(2))
                isHiddenByTap = wasShown && changed != nil
            }
            #expect(isHiddenByTap)
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }
    }
}
