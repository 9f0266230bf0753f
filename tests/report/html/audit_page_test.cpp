// The audit's page: captions below pictures, and a curve to scale. tests/eval/audit/audit_test.cpp has the findings.
#include "annulus/report/html/audit_page.h"

#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace annulus {
namespace {

// What each picture is stands below it, and the curve's axis is one of numbers: 1, 2 and 8 are not equally far apart.
TEST(AuditPage, PicturesHaveCaptionsAndTheCurveIsToScale) {
  AuditReport report;
  report.images = true;
  report.counts.assign(kFindingKinds, 0);
  report.counts[static_cast<std::size_t>(FindingKind::kMislabelled)] = 1;
  AuditFinding finding;
  finding.rank = 1;
  finding.path = "odd.jpg";
  finding.class_name = "<owl>";
  finding.other_class = "jay";
  report.findings = {finding};
  report.examples = {{"<owl>", "owl.jpg"}, {"jay", "jay.jpg"}};
  report.curve.measured = {{1, 50.0, 40.0, 60.0}, {2, 60.0, 55.0, 65.0}, {8, 80.0, 78.0, 82.0}};
  AuditPageOptions options;
  options.thumbnail = [](const std::string&) { return std::optional<std::string>("data:image/webp;base64,AAAA"); };
  const std::string page = audit_page(report, options);
  for (const char* caption : {"labelled &lt;owl&gt;", "a typical &lt;owl&gt;", "a typical jay"}) {
    EXPECT_NE(page.find("<figcaption>" + std::string(caption) + "</figcaption></figure>"), std::string::npos)
        << caption;
  }
  std::vector<double> places;
  const std::regex point(R"re(<g class="point" transform="translate\(([0-9.]+))re");
  for (std::sregex_iterator match(page.begin(), page.end(), point), end; match != end; ++match) {
    places.push_back(std::stod((*match)[1]));
  }
  ASSERT_GE(places.size(), 3U);
  EXPECT_NEAR((places[2] - places[1]) / (places[1] - places[0]), 6.0, 0.1);
}

}  // namespace
}  // namespace annulus
