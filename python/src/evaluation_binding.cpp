// Protocols and audits: the JSON that the command line writes, and its texts and pages.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "annulus/eval/audit/audit.h"
#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/learn/method/recipe_options.h"
#include "annulus/pipeline/audit_file.h"
#include "annulus/pipeline/audit_images.h"
#include "annulus/pipeline/backbone_metric.h"
#include "annulus/report/documents/report_document.h"
#include "annulus/report/html/html_report.h"
#include "annulus/report/tables/audit_text.h"
#include "annulus/report/tables/episodes_report.h"
#include "annulus/report/tables/protocol_report.h"
#include "annulus/store/files/machine.h"
#include "annulus/task/query_balance.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/progress.h"

namespace annulus::python {
namespace {

namespace py = pybind11;
using SharedSet = std::shared_ptr<FeatureSet>;

// A report as text for people, JSON for programs and a page.
py::dict report_dict(const std::string& text, const std::string& json, const std::string& page) {
  return py::dict(py::arg("text") = text, py::arg("json") = json, py::arg("html") = page);
}

std::string page_of(const ResultsDocument& document) { return html_report(std::span(&document, 1)); }

struct EvaluateArguments {
  std::vector<std::size_t> shots;
  std::size_t split_count;
  std::vector<std::string> methods;
  std::string against;
  std::string query_balance;
};

py::dict evaluate(const SharedSet& train, const SharedSet& test, const EvaluateArguments& arguments,
                  const RecipeOptions& recipe, std::uint64_t seed, int threads, const py::object& progress) {
  ManyWayOptions protocol;
  protocol.shots = arguments.shots;
  protocol.split_count = arguments.split_count;
  protocol.seed = seed;
  protocol.methods = arguments.methods;
  protocol.against = arguments.against;
  if (!arguments.query_balance.empty()) protocol.query_balance = query_balance_from(arguments.query_balance);
  protocol.recipe = make_recipe(recipe, seed, threads);
  add_metric_prior(recipe.metric, train->provenance(), train->dimension(), protocol.recipe);
  ReportContext context{train->source(), test ? test->source() : train->source(), seed, arguments.split_count,
                        describe(protocol.recipe)};
  context.metadata = make_run_metadata(arguments.methods, {}, seed, arguments.split_count, threads);
  std::string text;
  std::string json;
  std::string page;
  without_lock(progress, [&](const ProgressCallback& heard) {
    context.metadata->checksums["features"] = content_checksum(*train);
    if (test) context.metadata->checksums["test"] = content_checksum(*test);
    const ManyWayReport report =
        test ? evaluate_many_way(*train, *test, protocol, heard) : evaluate_many_way(*train, protocol, heard);
    for (const Split& split : report.splits) context.metadata->splits.push_back(split_checksum(split));
    text = many_way_table(report) + comparison_table(report.comparisons, "class");
    json = many_way_json(report, context);
    page = page_of(document_of(report, context, train->source()));
    return true;
  });
  return report_dict(text, json, page);
}

py::dict episodes(const SharedSet& set, EpisodesOptions protocol, const RecipeOptions& recipe,
                  const py::object& progress) {
  protocol.recipe = make_recipe(recipe, protocol.seed, protocol.threads);
  add_metric_prior(recipe.metric, set->provenance(), set->dimension(), protocol.recipe);
  std::string text;
  std::string json;
  std::string page;
  without_lock(progress, [&](const ProgressCallback& heard) {
    RunMetadata metadata = make_run_metadata(protocol.methods, {}, protocol.seed, protocol.seeds, protocol.threads);
    metadata.checksums["features"] = content_checksum(*set);
    const EpisodesReport report = evaluate_episodes(*set, protocol, heard);
    text = episodes_table(report) + comparison_table(report.comparisons, "episode");
    json = episodes_json(report, protocol, set->source(), metadata);
    page = page_of(document_of(report, protocol, set->source(), metadata, set->source()));
    return true;
  });
  return report_dict(text, json, page);
}

// An audit and its page.
struct Audited {
  AuditReport report;
  std::string page;
};

py::dict audit_dict(const Audited& audited) {
  py::dict result = report_dict(audit_text(audited.report), audit_json(audited.report).dump(), audited.page);
  result["findings"] = audit_json_lines(audited.report);
  return result;
}

Audited with_page(AuditReport report, const ProgressCallback& heard) {
  std::string page = illustrated_audit_page(report, heard);
  return {std::move(report), std::move(page)};
}

py::dict audit_set(const SharedSet& set, AuditOptions options, const py::object& progress) {
  return audit_dict(without_lock(
      progress, [&](const ProgressCallback& heard) { return with_page(audit(*set, options, heard), heard); }));
}

// The same for a folder of images, whose files are looked at as well.
py::dict audit_folder(const std::string& folder, const EncoderOptions& encoder, AuditOptions options,
                      const py::object& progress) {
  return audit_dict(without_lock(progress, [&](const ProgressCallback& heard) {
    const AuditImages images = load_audit_images(folder, {}, encoder, options, heard);
    return with_page(audit(images.set, options, heard), heard);
  }));
}

void add_protocols(py::module_& module) {
  module.def(
      "evaluate",
      [](const SharedSet& train, const SharedSet& test, std::vector<std::size_t> shots, std::size_t split_count,
         std::vector<std::string> methods, const std::string& against, const std::string& query_balance,
         const RecipeOptions& recipe, std::uint64_t seed, int threads, const py::object& progress) {
        return evaluate(train, test, {std::move(shots), split_count, std::move(methods), against, query_balance},
                        recipe, seed, threads, progress);
      },
      py::arg("train"), py::arg("test").none(true), py::kw_only(), py::arg("shots"), py::arg("subsets"),
      py::arg("methods"), py::arg("against") = "", py::arg("query_balance") = "", py::arg("recipe"),
      py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = py::none());
  module.def(
      "episodes",
      [](const SharedSet& set, std::vector<std::size_t> shots, std::size_t ways, std::size_t queries,
         std::size_t episode_count, std::size_t seeds, std::vector<std::string> methods, const std::string& against,
         const std::string& query_balance, const RecipeOptions& recipe, std::uint64_t seed, int threads,
         const py::object& progress) {
        EpisodesOptions options;
        options.shots = std::move(shots);
        options.ways = ways;
        options.queries = queries;
        options.episodes = episode_count;
        options.seeds = seeds;
        options.seed = seed;
        options.methods = std::move(methods);
        options.against = against;
        if (!query_balance.empty()) options.query_balance = query_balance_from(query_balance);
        options.threads = threads;
        return episodes(set, std::move(options), recipe, progress);
      },
      py::arg("set"), py::kw_only(), py::arg("shots"), py::arg("ways"), py::arg("queries"), py::arg("episodes"),
      py::arg("seeds"), py::arg("methods"), py::arg("against") = "", py::arg("query_balance") = "", py::arg("recipe"),
      py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = py::none());
}

AuditOptions audit_options(double suspects, std::uint64_t seed, int threads) {
  AuditOptions options;
  options.suspect_fraction = suspects;
  options.seed = seed;
  options.threads = threads;
  return options;
}

}  // namespace

void add_evaluation(py::module_& module) {
  add_protocols(module);
  module.def(
      "audit",
      [](const SharedSet& set, double suspects, std::uint64_t seed, int threads, const py::object& progress) {
        return audit_set(set, audit_options(suspects, seed, threads), progress);
      },
      py::arg("set"), py::kw_only(), py::arg("suspects") = 0.05, py::arg("seed") = 0, py::arg("threads") = 0,
      py::arg("progress") = py::none());
  module.def(
      "audit_folder",
      [](const std::string& folder, const std::string& backbone, const std::string& preprocess,
         const std::string& views, const std::string& cache, bool srgb, std::optional<double> crop_margin,
         double suspects, std::uint64_t seed, int threads, const py::object& progress) {
        EncoderOptions encoder{backbone, preprocess, cache, false};
        if (!views.empty()) encoder.views = views_from_text(views);
        encoder.srgb = srgb;
        encoder.crop_margin = crop_margin;
        return audit_folder(folder, encoder, audit_options(suspects, seed, threads), progress);
      },
      py::arg("folder"), py::kw_only(), py::arg("backbone") = "", py::arg("preprocess") = "", py::arg("views") = "",
      py::arg("cache") = "", py::arg("srgb") = false, py::arg("crop_margin") = py::none(), py::arg("suspects") = 0.05,
      py::arg("seed") = 0, py::arg("threads") = 0, py::arg("progress") = py::none());
}

}  // namespace annulus::python
