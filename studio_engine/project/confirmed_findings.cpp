// Reads and writes the file as a whole: it has a line for each click of a person.
#include "studio_engine/project/confirmed_findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/mapped_file.h"

namespace annulus::studio {
namespace {

using Json = nlohmann::ordered_json;

ConfirmedFinding finding_from(std::string_view line) {
  const Json json = Json::parse(line);
  return {json.at(0), json.at(1), json.at(2), json.at(3)};
}

std::string to_line(const ConfirmedFinding& finding) {
  const Json json = {finding.kind, finding.photo, finding.class_name, finding.other_photo};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

ConfirmedFindings::ConfirmedFindings(std::filesystem::path file) : file_(std::move(file)) {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  const MappedFile mapped(file_);
  std::string_view rest = as_text(mapped.bytes());
  try {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) findings_.insert(finding_from(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } catch (const Json::exception& error) {
    fail(ErrorKind::kFormat, "{}: expected four texts a line, found: {}; remove the file to start anew", file_.string(),
         error.what());
  }
}

void ConfirmedFindings::set(const ConfirmedFinding& finding, bool right) {
  std::set<ConfirmedFinding> next = findings_;
  if (right) {
    next.insert(finding);
  } else {
    next.erase(finding);
  }
  AtomicFile file(file_);
  for (const ConfirmedFinding& one : next) file.write(to_line(one));
  file.commit();
  findings_ = std::move(next);
}

}  // namespace annulus::studio
