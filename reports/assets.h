/* The files that pages carry inside, as strings; reports/build.mk makes them. */
#ifndef ORCHARD_REPORTS_ASSETS_H
#define ORCHARD_REPORTS_ASSETS_H

extern const char report_chart_css[];                                            /* colours and lines of charts */
extern const char report_page_css[];                                             /* everything else of a page */
extern const char report_page_js[];                                              /* CSV buttons; long series with uPlot */
extern const char report_brush_js[];                                             /* points to choose by ranges */
extern const char report_live_js[];                                              /* lists that grow */
extern const char report_uplot_js[], report_uplot_css[], report_uplot_license[]; /* vendor/: uPlot by Leon Sorokin, MIT */

#endif
