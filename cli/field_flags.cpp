// Most options are spelled like their field; the table has the others.
#include "cli/field_flags.h"

#include <algorithm>
#include <map>

namespace annulus::cli {

std::string flag_of(const std::string& field, const CLI::App& subcommand) {
  static const std::map<std::string, std::string> kRenamed{{"base_classes", "--base"},
                                                           {"check", "--no-check"},
                                                           {"learning_rate", "--lr"},
                                                           {"search_learning_rate", "--search-lr"},
                                                           {"virtual_count", "--virtual"}};
  const auto found = kRenamed.find(field);
  std::string flag = found != kRenamed.end() ? found->second : "--" + field;
  std::replace(flag.begin(), flag.end(), '_', '-');
  // The sentence then names the subcommand that has the option.
  const bool of_another = field == "from";
  return subcommand.get_option_no_throw(flag) == nullptr && !of_another ? field : flag;
}

std::string message_for(const Error& error, const CLI::App& subcommand) {
  return error.message_with(flag_of(error.field(), subcommand));
}

}  // namespace annulus::cli
