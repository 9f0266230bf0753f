// Gives the page its pictures, and writes it.
#include "annulus/pipeline/audit_file.h"

#include <string>

#include "annulus/pipeline/page_pictures.h"
#include "annulus/report/html/audit_page.h"
#include "annulus/store/files/atomic_file.h"

namespace annulus {

std::string illustrated_audit_page(const AuditReport& audited, const ProgressCallback& progress) {
  AuditPageOptions options;
  if (audited.images) options.thumbnail = page_pictures(progress);
  return audit_page(audited, options);
}

void write_audit_page(const AuditReport& audited, const std::filesystem::path& file, const ProgressCallback& progress) {
  write_file(file, illustrated_audit_page(audited, progress));
}

}  // namespace annulus
