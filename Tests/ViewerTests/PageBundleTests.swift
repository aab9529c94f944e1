import Testing

@testable import Viewer

@Suite("The page in one piece")
struct PageBundleTests {
    private static let index = """
        <!doctype html>
        <html lang="en">
        <head>
          <script>
            // Why.
            first();
          </script>
          <link rel="stylesheet" href="a.css">
          <link rel="stylesheet" href="b.css">
        </head>
        <body>
          <script type="module" src="main.js"></script>
        </body>
        </html>

        """

    private func bundle(
        _ files: [String: String], index: String = PageBundleTests.index
    ) throws -> PageBundle {
        let sheets = ["a.css": "/* Red,\n   always. */\na {\n  color: red;\n}\n", "b.css": "/* B */\nb { top: 0 }\n"]
        return try PageBundle(index) { files[$0] ?? sheets[$0] }
    }

    private func fault(_ main: String, _ other: String = "") -> PageBundle.Fault? {
        do {
            _ = try bundle(["main.js": main, "other.js": other])
            return nil
        } catch {
            return error as? PageBundle.Fault
        }
    }

    @Test("files that can't be joined are loaded one by one, and the page's own script is still allowed")
    func separate() throws {
        let page = ViewerFiles.make(Self.index) { $0.hasSuffix(".css") ? "" : "import * as all from \"./other.js\";\n" }
        let html = String(decoding: page.file.bytes, as: UTF8.self)
        #expect(html.contains("<script type=\"module\" src=\"main.js\">") && page.later.isEmpty)
        let script = try #require(html.split(separator: "<script>").last?.split(separator: "</script>").first)
        #expect(page.policy.contains("'sha256-\(Digest.base64(of: String(script)))'"))
    }

    @Test("the page's own files can be joined")
    func own() throws {
        let page = try #require(ViewerFiles.file(path: "/"))
        #expect(!String(decoding: page.bytes, as: UTF8.self).contains("src=\"viewer.js\""))
    }

    @Test("modules come after what they import, each in a scope of its own, without comments and indents")
    func modules() throws {
        let files = [
            "main.js": """
            // What it does.
            import { one, two as second } from "./other.js";
            import { one as third } from "./third.js";

            /**
             * A class.
             */
            export class Main {
              /** Adds. */
              sum() {
                return `${one}` + second; // as text
              }
            }
            """,
            "other.js":
                "import { one as ours } from \"./third.js\";\nexport const one = ours;\nexport function two() {}\n",
            "third.js": "export const one = 1;\n",
        ]
        let script = """

            const $third = (() => {
            const one = 1;
            return { one };
            })();
            const $other = (() => {
            const { one: ours } = $third;
            const one = ours;
            function two() {}
            return { one, two };
            })();
            const $main = (() => {
            const { one, two: second } = $other;
            const { one: third } = $third;
            class Main {
            sum() {
            return `${one}` + second; // as text
            }
            }
            return { Main };
            })();

            """
        let bundle = try bundle(files)
        #expect(bundle.scripts == ["\nfirst();\n", script])
        #expect(bundle.style == "a {\ncolor: red;\n}\nb { top: 0 }\n")
        #expect(
            bundle.html == """
                <!doctype html>
                <html lang="en">
                <head>
                <script>
                first();
                </script>
                <style>\(bundle.style)</style>
                </head>
                <body>
                <script type="module">\(script)</script>
                </body>
                </html>

                """)
    }

    @Test(
        "a line that can't be taken over is a fault",
        arguments: [
            "import \"./other.js\";", "import { a } from './other.js';", "import {", "import a from \"./other.js\";",
            "import { a } from \"../other.js\";", "export default 1;", "export { a };", "export let a = 1;",
            "export async function a() {}", "const text = `", "/* a */ b();", "const end = \"</script>\";",
        ])
    func lines(line: String) {
        #expect(fault("first();\n" + line) == .notUnderstood(file: "main.js", line: line))
    }

    @Test("a module that is loaded later is in one piece, with what the page doesn't have")
    func later() throws {
        let files = [
            "main.js": "import { one } from \"./other.js\";\nsetTimeout(() => import(\"./late.js\").then(one));\n",
            "other.js": "export const one = 1;\n",
            "late.js":
                "import { one } from \"./other.js\";\nimport { two } from \"./third.js\";\nexport const three = one + two;\n",
            "third.js": "export const two = 2;\n",
        ]
        let bundle = try bundle(files)
        #expect(bundle.scripts.last?.contains("two") == false)
        #expect(bundle.scripts.last?.hasSuffix("window.parts = { $other };\n") == true)
        #expect(
            bundle.later == [
                "late.js": """
                const { $other } = window.parts;
                const $third = (() => {
                const two = 2;
                return { two };
                })();
                const $late = (() => {
                const { one } = $other;
                const { two } = $third;
                const three = one + two;
                return { three };
                })();
                export const { three } = $late;

                """
            ])
    }

    @Test("a missing file, a circle of modules and a script of another kind are faults")
    func files() throws {
        #expect(fault("import { a } from \"./another.js\";") == .missing(file: "another.js"))
        let circle = "import { a } from \"./main.js\";"
        #expect(fault("import { a } from \"./other.js\";", circle) == .circle(file: "main.js"))
        #expect(throws: PageBundle.Fault.notUnderstood(file: "index.html", line: "<script src=\"x.js\">")) {
            try bundle([:], index: "<script src=\"x.js\">\n")
        }
        #expect(throws: PageBundle.Fault.notUnderstood(file: "a.css", line: "/* a */ b {}")) {
            try bundle(["a.css": "/* a */ b {}\n"])
        }
        #expect(throws: PageBundle.Fault.missing(file: "c.css")) {
            try bundle([:], index: "<link rel=\"stylesheet\" href=\"c.css\">\n")
        }
    }

    @Test("the page has its version, and its rules allow its own scripts and style")
    func page() throws {
        let file = try #require(ViewerFiles.file(path: "/"))
        let text = String(decoding: file.bytes, as: UTF8.self)
        #expect(text.contains("data-version=\"\(ViewerFiles.version)\""))
        #expect(!text.contains("stylesheet") && !text.contains("src="))
        #expect(ViewerFiles.contentSecurityPolicy.components(of: "'sha256-") == 3)
        #expect(ViewerFiles.file(path: "/index.html")?.entityTag == file.entityTag)
        #expect(ViewerFiles.file(path: "/clock.js")?.contentType.hasPrefix("text/javascript") == true)
        #expect(ViewerFiles.file(path: "/nothing.js") == nil)
        #expect(try #require(file.compressed).count < file.bytes.count / 3)
    }
}

extension String {
    /// How often `text` occurs.
    fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
