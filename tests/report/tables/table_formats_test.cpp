// Tables as Markdown, LaTeX and CSV, byte for byte.
#include "annulus/report/tables/table_formats.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "annulus/report/tables/result_text.h"

namespace annulus {
namespace {

std::vector<ResultsDocument> documents() {
  const auto json = nlohmann::json::parse(R"json({
    "protocol": "many-way", "source": {"train": "some_where/a_b.npz", "test": "t.npz"}, "subsets": 2,
    "results": [
      {"method": "ncm", "shots": 5, "accuracy_mean": 50.126, "accuracy_std": 1.5, "top5_mean": 75, "runs": [
        {"seed": 0, "accuracy": 49, "epsilon": 0, "seconds": 0.25}, {"seed": 1, "accuracy": 51.25, "epsilon": 0, "seconds": 0.75}]},
      {"method": "a|b_<&$%", "shots": 5, "accuracy_mean": 52.5, "accuracy_std": 0.25, "runs": [
        {"seed": 0, "accuracy": 52, "epsilon": 2, "seconds": 100}, {"seed": 1, "accuracy": 53, "epsilon": 3, "seconds": 140}]},
      {"method": "ncm", "shots": 0, "accuracy_mean": 61}],
    "comparisons": [{"shots": 5, "method": "ncm", "against": "a|b_<&$%", "difference": -2.374, "ci95": 0.5, "p_value": 0.0001, "test": "sign test"}]
  })json");
  return parse_results(json.dump(), "r.json");
}

TEST(TableFormats, Markdown) {
  EXPECT_EQ(markdown_tables(documents()),
            "## All classes at once: a\\_b.npz\n"
            "\n"
            "Accuracy in percent; ± is the standard deviation over splits:\n"
            "\n"
            "| method | 5 shots | all labelled examples |\n"
            "|---|---:|---:|\n"
            "| ncm | 50.13 ± 1.50 | **61.00** |\n"
            "| a\\|b\\_&lt;&amp;\\$% | **52.50 ± 0.25** |  |\n"
            "\n"
            "All measures of every method:\n"
            "\n"
            "| shots | method | accuracy % | ± splits | top 5 % | epsilon | seconds |\n"
            "|---:|---|---:|---:|---:|---:|---:|\n"
            "| 5 | ncm | 50.13 | 1.50 | 75.00 |  | 0.500 |\n"
            "| 5 | a\\|b\\_&lt;&amp;\\$% | **52.50** | 0.25 |  | 2.500 | 120 |\n"
            "| all | ncm | **61.00** |  |  |  |  |\n"
            "\n"
            "Differences of accuracy on the same splits:\n"
            "\n"
            "| shots | method | against | difference, points | ± (95 %) | p-value | test |\n"
            "|---:|---|---|---:|---:|---:|---|\n"
            "| 5 | ncm | a\\|b\\_&lt;&amp;\\$% | -2.37 | 0.50 | &lt; 0.001 | sign test |\n");
}

TEST(TableFormats, Latex) {
  const std::string text = latex_tables(documents());
  EXPECT_EQ(
      text.substr(0, text.find("\\end{table}")),
      "% needs \\usepackage{booktabs}\n"
      "\\begin{table}\n"
      "\\centering\n"
      "\\caption{All classes at once: a\\_b.npz. Accuracy in percent; $\\pm$ is the standard deviation over splits.}\n"
      "\\begin{tabular}{lrr}\n"
      "\\toprule\n"
      "method & 5 shots & all labelled examples \\\\\n"
      "\\midrule\n"
      "ncm & 50.13 $\\pm$ 1.50 & \\textbf{61.00} \\\\\n"
      "a|b\\_$<$\\&\\$\\% & \\textbf{52.50 $\\pm$ 0.25} &  \\\\\n"
      "\\bottomrule\n"
      "\\end{tabular}\n");
  EXPECT_NE(text.find("5 & ncm & a|b\\_$<$\\&\\$\\% & $-$2.37 & 0.50 & $<$ 0.001 & sign test \\\\\n"),
            std::string::npos)
      << text;
}

TEST(TableFormats, Csv) {
  EXPECT_EQ(
      csv_table(documents()),
      "document,protocol,method,shots,accuracy,spread,ci95,ci95_classes,top5,macro,ece,acc_1,acc_10,acc_100,epsilon,"
      "learning_rate,seconds\n"
      "r.json,many-way,ncm,5,50.126,1.5,,,75,,,,,,,,0.5\n"
      "r.json,many-way,a|b_<&$%,5,52.5,0.25,,,,,,,,,2.5,,120\n"
      "r.json,many-way,ncm,0,61,,,,,,,,,,,,\n");
}

TEST(TableFormats, ASingleSplitHasNoSpread) {
  auto json = nlohmann::json::parse(
      R"({"protocol": "many-way", "results": [{"method": "ncm", "shots": 1, "accuracy_mean": 50, "accuracy_std": 0, "runs": [{"seed": 0, "accuracy": 50}]}]})");
  EXPECT_EQ(accuracy_table(parse_results(json.dump(), "r").front()).rows[0][1].text, "50.00");
  json["results"][0]["ci95_classes"] = 3.25;
  const ResultsTable table = accuracy_table(parse_results(json.dump(), "r").front());
  EXPECT_EQ(table.rows[0][1].text, "50.00 ± 3.25");
  EXPECT_EQ(table.caption, "Accuracy in percent; ± is half the 95 % interval over classes");
}

TEST(TableFormats, SecondsHaveTheDigitsThatMatter) {
  EXPECT_EQ(seconds_text(0.0), "0.000");
  EXPECT_EQ(seconds_text(0.0001), "< 0.001");
  EXPECT_EQ(seconds_text(0.0123), "0.012");
  EXPECT_EQ(seconds_text(12.34), "12.3");
  EXPECT_EQ(seconds_text(1234.5), "1234");
}

TEST(TableFormats, Escaping) {
  EXPECT_EQ(escape_latex("\\ {a} ~^ #1 Büßer <>"),
            "\\textbackslash{} \\{a\\} \\textasciitilde{}\\textasciicircum{} \\#1 Büßer $<$$>$");
  EXPECT_EQ(escape_markdown("`*_[x](y)|\n#"), "\\`\\*\\_\\[x\\](y)\\| \\#");
  EXPECT_EQ(escape_csv("plain 鳥"), "plain 鳥");
  EXPECT_EQ(escape_csv("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
}

}  // namespace
}  // namespace annulus
