// annulus report: results documents as a page, tables and plots.
#include <fmt/format.h>

#include <memory>

#include "annulus/store/results/report_files.h"
#include "cli/command.h"

namespace annulus::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> results;
  std::string folder = "report";
  bool no_pictures = false;
  bool quiet = false;
};

void run_report(const ReportOptions& options) {
  const auto page = write_report(options.results, options.folder, {!options.no_pictures});
  if (options.quiet) return;
  fmt::print("page    {}\ntables  {}\nplots   {}\n", page.string(),
             (page.parent_path() / "tables.{md,tex,csv}").string(), (page.parent_path() / "plots").string());
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "Write results as a page, tables and plots");
  command.add_option("RESULTS", options->results, "JSON files of evaluate, episodes or demo; all go on one page")
      ->type_name("")
      ->required();
  command.add_option("-o,--output", options->folder, "Folder to write to")->type_name("DIR")->capture_default_str();
  command.add_flag("--no-pictures", options->no_pictures, "Show no images of wrong predictions");
  command.add_flag("-q,--quiet", options->quiet, "Print errors only");
  add_example(command,
              "  annulus evaluate features.safetensors --json results.json\n  annulus report results.json -o report");
  command.callback([options, &action] { action = [options] { run_report(*options); }; });
}

}  // namespace annulus::cli
