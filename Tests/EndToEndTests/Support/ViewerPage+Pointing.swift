import BrowserDriver

extension ViewerPage {
    /// A place in a picture, in fractions of its width and height.
    typealias Place = (x: Double, y: Double)

    /// Opens a page in a browser of its own, as a user called `name`.
    static func pointing(_ link: String, as name: String? = nil) throws -> ViewerPage {
        let page = try Browser.shared().newPage("about:blank")
        if let name {
            try page.runBeforeLoad("try { localStorage.setItem('screenrelay.name', '\(name)'); } catch {}")
        }
        try page.navigate(link)
        let viewer = ViewerPage(page)
        try viewer.waitUntilPlaying()
        try page.evaluate(dots)
        return viewer
    }

    /// The button that turns the laser on.
    static let laser = "document.querySelector('#bar [title^=\"Laser pointer\"]')"

    /// Functions that know where a place of a video is in the window, and whether a dot or a line is there; and the
    /// times at which the pointer has moved last, and a dot.
    static let dots = """
        window.placeOf = (selector, x, y) => {
          const video = document.querySelector(selector);
          const box = video.getBoundingClientRect();
          const [width, height] = [video.videoWidth || box.width, video.videoHeight || box.height];
          const scale = Math.min(box.width / width, box.height / height);
          return {
            x: box.left + box.width / 2 + (x - 0.5) * width * scale,
            y: box.top + box.height / 2 + (y - 0.5) * height * scale,
          };
        };
        window.isDotAt = (selector, x, y) => {
          const wanted = placeOf(selector, x, y);
          const { parentElement } = document.querySelector(selector);
          return [...parentElement.querySelectorAll('.laser-dot')].some((dot) => {
            const { left, top } = dot.getBoundingClientRect();
            return Math.abs(left - wanted.x) < 2 && Math.abs(top - wanted.y) < 2;
          });
        };
        window.isLineAt = (selector, x, y) => {
          const { parentElement } = document.querySelector(selector);
          const canvas = parentElement.querySelector('.laser-lines');
          const spot = parentElement.querySelector('.laser-dot i');
          if (!canvas || !spot) return false;
          const box = canvas.getBoundingClientRect();
          const place = placeOf(selector, x, y);
          const ratio = canvas.width / box.width;
          // As sharp as the screen.
          if (Math.abs(ratio - devicePixelRatio) * box.width > 1) return false;
          const [left, top] = [(place.x - box.left) * ratio, (place.y - box.top) * ratio].map(Math.floor);
          const [red, green, blue, alpha] = canvas.getContext('2d').getImageData(left, top, 1, 1).data;
          const color = getComputedStyle(spot).backgroundColor.match(/\\d+/g).map(Number);
          return alpha === 255 && [red, green, blue].every((value, index) => Math.abs(value - color[index]) < 9);
        };
        window.movedAt = window.seenAt = 0;
        addEventListener('pointermove', () => { window.movedAt = Date.now(); }, true);
        window.lastPlace = '';
        new MutationObserver(() => {
          const style = document.querySelector('#picture .laser-dot')?.style;
          const place = style ? `${style.left} ${style.top}` : '';
          if (place !== lastPlace) window.seenAt = Date.now();
          window.lastPlace = place;
        }).observe(document.getElementById('picture'), { subtree: true, childList: true, attributes: true });
        """

    /// Whether the page has loaded the part that is called `name`.
    func hasPart(_ name: String) throws -> Bool {
        try page.evaluate(
            "performance.getEntriesByType('resource').some((one) => one.name.endsWith('/\(name)'))"
        ).isTruthy
    }

    /// Presses a letter.
    func pressLetter(_ key: String) throws {
        for type in ["keyDown", "keyUp"] {
            try page.send("Input.dispatchKeyEvent", ["type": .string(type), "key": .string(key), "text": .string(key)])
        }
    }

    func turnLaserOn() throws {
        try page.waitUntil("\(Self.laser)?.hidden === false")
        try pressLetter("l")
        try page.waitUntil("\(Self.laser).getAttribute('aria-pressed') === 'true'")
    }

    /// Moves the mouse to a place of the picture in `selector`, in fractions of its width and height.
    func point(_ selector: String, _ x: Double, _ y: Double) throws {
        let place = try page.evaluate("placeOf('\(selector)', \(x), \(y))")
        try page.send(
            "Input.dispatchMouseEvent",
            ["type": "mouseMoved", "x": .number(place["x"].number ?? 0), "y": .number(place["y"].number ?? 0)])
    }

    /// Touches a place of the large picture, or ends the touch.
    func touch(_ type: String, _ x: Double? = nil, _ y: Double? = nil) throws {
        var points: JSONValue = []
        if let x, let y {
            let place = try page.evaluate("placeOf('#video', \(x), \(y))")
            points = [place]
        }
        try page.send("Input.dispatchTouchEvent", ["type": .string(type), "touchPoints": points])
    }

    /// Draws a line on the picture in `selector` with the mouse, in a few steps.
    func draw(_ selector: String, from start: Place, to end: Place) throws {
        let steps = 4
        let expressions = (0...steps).map { step in
            let part = Double(step) / Double(steps)
            let (x, y) = (start.x + (end.x - start.x) * part, start.y + (end.y - start.y) * part)
            return "placeOf('\(selector)', \(x), \(y))"
        }
        let places = try page.evaluate("[\(expressions.joined(separator: ","))]").array ?? []
        guard let first = places.first, let last = places.last else { return }
        try mouse("mousePressed", first, buttons: 1)
        for place in places.dropFirst() { try mouse("mouseMoved", place, buttons: 1) }
        try mouse("mouseReleased", last, buttons: 0)
    }

    /// Whether all of a line is seen within two seconds, in the color of the dot, and nothing beside it. It fades after
    /// that, so that it has to be drawn again.
    func showsLine(_ selector: String, from start: Place, to end: Place) throws -> Bool {
        let checks = (1...19).map { step in
            let part = Double(step) / 20
            let (x, y) = (start.x + (end.x - start.x) * part, start.y + (end.y - start.y) * part)
            return "isLineAt('\(selector)', \(x), \(y))"
        }
        let beside = "!isLineAt('\(selector)', \(start.x), \(end.y)) && !isLineAt('\(selector)', \(end.x), \(start.y))"
        do {
            try page.waitUntil("\(checks.joined(separator: " && ")) && \(beside)", within: .seconds(2))
            return true
        } catch {
            guard case .deadlineMissed = error else { throw error }
            return false
        }
    }

    private func mouse(_ type: String, _ place: JSONValue, buttons: Double) throws {
        try page.send(
            "Input.dispatchMouseEvent",
            [
                "type": .string(type), "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1,
                "buttons": .number(buttons),
            ])
    }
}
