import Testing

@testable import PageBundling

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

    private func fault(_ main: String, _ other: String = "", folder: String = ".") -> PageError? {
        do {
            _ = try bundle(["main.js": main, "other.js": other, "\(folder)/other.js": other])
            return nil
        } catch {
            return error as? PageError
        }
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
        let style = "a {\ncolor: red;\n}\nb { top: 0 }\n"
        #expect(bundle.pieces.count == 7)
        #expect(
            bundle.pieces.filter { if case .markup = $0 { false } else { true } } == [
                .script("\nfirst();\n"), .style(style), .script(script),
            ])
        #expect(
            bundle.html == """
                <!doctype html>
                <html lang="en">
                <head>
                <script>
                first();
                </script>
                <style>\(style)</style>
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
            "import { a } from \"../other.js\";", "import { a } from \"other.js\";", "import(`./other.js`);",
            "all(import(\"./other.js\"), import(\"./other.js\"));",
            "export default 1;", "export { a };", "export let a = 1;",
            "export async function a() {}", "const text = `", "/* a */ b();", "const end = \"</script>\";",
        ])
    func lines(line: String) {
        #expect(fault("first();\n" + line) == .notUnderstood(file: "main.js", line: line))
    }

    @Test("a module that is loaded later is in one piece, with what the page doesn't have")
    func later() throws {
        let files = [
            "main.js": "import { one } from \"./other.js\";\nsetTimeout(() => import(\"./late/late.js\").then(one));\n",
            "other.js": "export const one = 1;\n",
            "late/late.js":
                "import { one } from \"../other.js\";\nimport { two } from \"./third.js\";\nexport const three = one + two;\n",
            "late/third.js": "export const two = 2;\n",
        ]
        let bundle = try bundle(files)
        let script = try #require(bundle.pieces.dropLast().last?.text)
        #expect(script.contains("import(\"./late/late.js\").then(one)") && !script.contains("two"))
        #expect(script.hasSuffix("window.parts = { $other };\n"))
        #expect(
            bundle.later == [
                "late/late.js": """
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
        #expect(
            fault("import { a } from \"./a/other.js\";\nimport { b } from \"./other.js\";", folder: "a")
                == .duplicateName(file: "other.js"))
        let circle = "import { a } from \"./main.js\";"
        #expect(fault("import { a } from \"./other.js\";", circle) == .circle(file: "main.js"))
        #expect(throws: PageError.notUnderstood(file: "index.html", line: "<script src=\"x.js\">")) {
            try bundle([:], index: "<script src=\"x.js\">\n")
        }
        #expect(throws: PageError.notUnderstood(file: "a.css", line: "/* a */ b {}")) {
            try bundle(["a.css": "/* a */ b {}\n"])
        }
        #expect(throws: PageError.missing(file: "c.css")) {
            try bundle([:], index: "<link rel=\"stylesheet\" href=\"c.css\">\n")
        }
    }

    @Test("what the page loads later loads nothing later, because paths in it would not be those of its file")
    func laterStill() {
        let files = [
            "main.js": "import(\"./late.js\");\n", "late.js": "first();\nimport(\"./third.js\");\n", "third.js": "",
        ]
        #expect(throws: PageError.notUnderstood(file: "late.js", line: "import(\"./third.js\");")) {
            try bundle(files)
        }
    }

    @Test(
        "a text in Swift is the same text, whatever stands in it",
        arguments: [
            ("a\nb\n", "#\"\"\"\na\nb\n\n\"\"\"#"), ("\\#(a)", "##\"\"\"\n\\#(a)\n\"\"\"##"),
            ("\"\"\"##", "###\"\"\"\n\"\"\"##\n\"\"\"###"), ("\\n", "#\"\"\"\n\\n\n\"\"\"#"),
        ])
    func literals(text: String, literal: String) {
        #expect(PageSource.literal(text) == literal)
    }

    @Test("the source has every text, the files in the order of their paths")
    func source() throws {
        let bundle = try bundle(["main.js": "import(\"./late.js\");\n", "late.js": "export const a = 1;\n"])
        let source = PageSource.text(bundle, files: ["b.css": "of b", "a.css": "of a"])
        let texts =
            bundle.pieces.map(\.text) + [try #require(bundle.later["late.js"]), "a.css", "of a", "b.css", "of b"]
        var rest = source[...]
        for text in texts {
            let range = try #require(rest.firstRange(of: text), "\(text)")
            rest = rest[range.upperBound...]
        }
    }
}
