// A report that was just computed as a results document: what reading its JSON would give, without writing any.
#pragma once

#include <optional>
#include <string>

#include "annulus/eval/protocols/episodes.h"
#include "annulus/eval/protocols/many_way.h"
#include "annulus/eval/protocols/run_metadata.h"
#include "annulus/report/documents/results_document.h"
#include "annulus/report/tables/protocol_report.h"

namespace annulus {

// `name` is the document's.
ResultsDocument document_of(const ManyWayReport& report, const ReportContext& context, const std::string& name);
// `source` is the file of the examples.
ResultsDocument document_of(const EpisodesReport& report, const EpisodesOptions& options, const std::string& source,
                            const std::optional<RunMetadata>& metadata, const std::string& name);

}  // namespace annulus
