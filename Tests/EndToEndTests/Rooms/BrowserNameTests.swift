import BrowserDriver
import Foundation
import TestSupport
import Testing

extension EndToEndInBrowser {
    @Suite("Names that would be scripts", .enabled(if: EndToEnd.hasBrowser))
    struct BrowserNameTests {
        /// Records what a name that runs as a script would do; installed before any script of the page.
        private static let trap = """
            window.struck = [];
            for (const name of ['alert', 'confirm', 'prompt', 'print', 'open', 'eval'])
              window[name] = (value) => { window.struck.push(`${name} ${value}`); };
            document.addEventListener('securitypolicyviolation',
              (event) => window.struck.push(`${event.violatedDirective} ${event.blockedURI}`));
            """

        /// Finds what no name may put into the document: certain elements, handlers, and links that are code.
        private static let foreign = """
            (() => {
              const kinds = ['script', 'iframe', 'img', 'image', 'object', 'embed', 'math', 'base', 'meta', 'link', 'style',
                'marquee', 'audio', 'source', 'animate', 'set', 'template', 'frameset'];
              const found = kinds.map((kind) => `${kind} ${document.querySelectorAll(kind).length}`);
              for (const element of document.querySelectorAll('*'))
                for (const { name, value } of element.attributes)
                  if (/^on/i.test(name) || /^\\s*javascript:/i.test(value)) found.push(`${element.tagName} ${name}`);
              return JSON.stringify(found);
            })()
            """

        @Test("are text in the title and on the cards, and among the members", .timeLimit(.minutes(5)))
        func names() throws {
            let names = ScriptingNames.all
            #expect(Set(names).count == 50)
            #expect(names.allSatisfy { $0.count <= 64 })
            let folder = try TemporaryFolder()
            let host = try RunningProgram(
                "screenrelay", ["host", "--link", "unix:s.sock"] + LinkSocket.hostOptions, folder: folder.path)
            defer { host.stop() }
            let link = try host.printedLink()
            let browser = try Browser.shared()
            let page = try browser.newPage("about:blank")
            try page.runBeforeLoad(Self.trap)
            try page.navigate(link)
            let before = try #require(try page.evaluate(Self.foreign).string)

            // The names as rooms that don't exist: the page mentions each one.
            let wrong = try page.evaluate(
                """
                (async () => {
                  const wrong = [];
                  for (const name of \(Self.literal(names))) {
                    location.hash = '#' + encodeURIComponent(`${name},token`);
                    const isShown = () => document.title.startsWith(name.split(',', 1)[0])
                      && window.screenRelay.phase === 'failed';
                    for (let round = 0; round < 400 && !isShown(); round += 1)
                      await new Promise((done) => setTimeout(done, 5));
                    if (!isShown() || \(Self.foreign) !== \(Self.literal(before))) wrong.push(name);
                  }
                  return JSON.stringify(wrong);
                })()
                """, within: .seconds(120))
            #expect(wrong.string == "[]")

            // The names as members: fifty of them join while a page is in the room.
            try page.evaluate("location.hash = '\(link.drop { $0 != "#" })'")
            try page.waitUntil("!['failed', 'connecting'].includes(window.screenRelay.phase)")
            let joined = try page.evaluate(
                """
                Promise.all(\(Self.literal(names)).map((name) => new Promise((done, failed) => {
                  const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/ws`);
                  (window.others ??= []).push(socket);
                  socket.onopen = () => socket.send(JSON.stringify({ eventName: '__join', data: {
                    room: decodeURIComponent(location.hash.slice(1)), role: 'viewer', name } }));
                  socket.onmessage = (event) => JSON.parse(event.data).eventName === '_peers' && done(1);
                  socket.onclose = (event) => failed(new Error(`closed ${event.code}`));
                }))).then((all) => all.length)
                """, within: .seconds(90))
            #expect(joined.int == 50)
            // The page lists them unchanged.
            try page.waitUntil("window.screenRelay.people.count > 50")
            try page.evaluate(
                "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true })), true")
            try page.waitUntil("document.querySelectorAll('#people li').length >= 50")
            for name in names {
                try page.waitUntil("document.getElementById('people').textContent.includes(\(Self.literal(name)))")
            }
            #expect(try page.evaluate(Self.foreign).string == before)
            #expect(try page.evaluate("JSON.stringify(window.struck)").string == "[]")
            #expect(page.consoleErrors.isEmpty, "\(page.consoleErrors)")
        }

        /// `value` as a JavaScript literal.
        private static func literal(_ value: some Encodable) throws -> String {
            String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        }
    }
}
