import Foundation
import PackagePlugin

/// Compiles the page into its target: `embed-page` joins the files in the target's folder `page` whenever one of them
/// has changed.
@main
struct EmbedPage: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let page = target.directoryURL.appending(path: "page")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedPage.swift")
        let files = try FileManager.default.subpathsOfDirectory(atPath: page.path).map { page.appending(path: $0) }
        return [
            .buildCommand(
                displayName: "Embedding the page", executable: try context.tool(named: "embed-page").url,
                arguments: [page.path, output.path],
                inputFiles: files.filter { !$0.hasDirectoryPath }.sorted { $0.path < $1.path },
                outputFiles: [output])
        ]
    }
}
