/* A real browser for suites that look at pages in one. They are skipped where none is installed. */
#ifndef ORCHARD_TESTS_SUPPORT_BROWSER_H
#define ORCHARD_TESTS_SUPPORT_BROWSER_H

#include "sim/base/file_read.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Path of Chromium or Chrome; NULL without one. */
static inline const char *browser_path(void)
{
    static const char *const names[] = {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (access(names[i], X_OK) == 0)
            return names[i];
    return NULL;
}

/* The document of page.html of a folder after its scripts have run, in a window of `width` pixels. The profile of the browser
 * goes into the folder, too. To be freed; empty when it cannot be read. */
static inline char *browser_dom(const char *folder, int width)
{
    char command[512];
    uint8_t *text = NULL;
    size_t size = 0;
    snprintf(command, sizeof command,
             "timeout 60 %s --headless --no-sandbox --disable-gpu --user-data-dir=%s/profile --window-size=%d,900 "
             "--virtual-time-budget=5000 --dump-dom file://%s/page.html 2>/dev/null",
             browser_path(), folder, width, folder);
    FILE *const in = popen(command, "r");
    const bool read = in && file_read_all(in, 64 << 20, &text, &size);
    if (in)
        pclose(in);
    return read ? (char *)text : strdup("");
}

#endif
