// annulus audit: finds labelled examples that need a look.
#include "annulus/eval/audit/audit.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "annulus/base/error.h"
#include "annulus/pipeline/audit_file.h"
#include "annulus/pipeline/audit_images.h"
#include "annulus/report/tables/audit_text.h"
#include "annulus/store/images/image_folder.h"
#include "cli/command.h"
#include "cli/load_data.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/progress_bar.h"

namespace annulus::cli {
namespace {

struct AuditCommand {
  DataOptions data;
  std::string json;
  std::string lines;
  std::string page;
  std::vector<std::string> fail_on;
  double suspects = 5.0;  // percent
  RunOptions run;
};

// Features of a folder of images; what is known of each image besides goes into `audit`.
FeatureSet load_with_facts(const AuditCommand& options, AuditOptions& audit, ProgressBar& bar) {
  ImageListOptions list_options;
  list_options.list_file = options.data.list;
  list_options.boxes = options.data.boxes;
  list_options.frames = options.data.frames;
  AuditImages images = load_audit_images(options.data.path, list_options, options.data.encoder, audit, bar.callback());
  for (const std::string& warning : images.warnings) bar.warn(warning);
  note_broken_images(images.extraction, notes_of(bar));
  return std::move(images.set);
}

void fail_if_asked(const AuditCommand& options, const AuditReport& report) {
  for (const std::string& name : options.fail_on) {
    const std::size_t count = report.count(finding_kind_from(name));
    if (count != 0) fail(ErrorKind::kInput, "{}: {} findings of the kind {}", options.data.path, count, name);
  }
}

void run_audit(const AuditCommand& options) {
  for (const std::string& name : options.fail_on) finding_kind_from(name);
  AuditReport report;
  {
    ProgressBar bar(options.run.quiet);
    AuditOptions audit_options;
    audit_options.suspect_fraction = options.suspects / 100.0;
    audit_options.seed = options.run.seed;
    audit_options.threads = options.run.threads;
    const FeatureSet set = holds_images(options.data.path) ? load_with_facts(options, audit_options, bar)
                                                           : load_data(options.data, options.run.threads, bar);
    report = audit(set, audit_options, bar.callback());
    if (!options.page.empty()) write_audit_page(report, options.page, bar.callback());
  }
  stop_if_interrupted();
  if (!options.lines.empty()) write_output(options.lines, audit_json_lines(report));
  if (!options.json.empty()) write_json(options.json, audit_json(report));
  if (!options.run.quiet && options.json != "-" && options.lines != "-") {
    fmt::print("{}", audit_text(report));
    if (!options.page.empty()) fmt::print("wrote {}\n", options.page);
  }
  fail_if_asked(options, report);
}

}  // namespace

void add_audit(CLI::App& app, Action& action) {
  const auto options = std::make_shared<AuditCommand>();
  CLI::App& command = *app.add_subcommand("audit", "Find wrong labels, duplicates and odd images in labelled data");
  command.add_option("DATA", options->data.path, "Folder of images with one folder per class, or a feature file")
      ->required()
      ->type_name("");
  command.add_option("--html", options->page, "Write a page to read, with thumbnails of images")->type_name("FILE");
  command.add_option("--jsonl", options->lines, "Write every finding, one per line; -: standard output")
      ->type_name("FILE");
  command.add_option("--suspects", options->suspects, "Percent of all examples to list as possibly mislabelled")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0).description(""))
      ->capture_default_str();
  command
      .add_option("--fail-on", options->fail_on, "Kinds of findings that make the exit code 3, e.g. leakage,corrupt")
      ->type_name("KIND,...")
      ->delimiter(',');
  add_labels(command, options->data);
  add_seed(command, options->run, "Seed of the planted label errors and of the splits of the learning curve");
  add_threads(command, options->run);
  add_quiet(command, options->run);
  add_json(command, options->json, "Write the summary as JSON (without FILE: to standard output)");
  add_encoder_options(command, options->data.encoder, kAutoBackbone);
  add_list(command, options->data.list);
  add_boxes(command, options->data.boxes, options->data.encoder);
  add_frames(command, options->data.frames);
  add_example(command,
              "  annulus audit photos/ --html audit.html\n"
              "  annulus audit features.safetensors --fail-on leakage,duplicate");
  command.callback([options, &action] { action = [options] { run_audit(*options); }; });
}

}  // namespace annulus::cli
