# Style, script and uPlot become constants of the library: reports/page.css -> report_page_css. The first line of uPlot's script, its
# banner, is left out; its licence is written instead.
REPORT_ASSETS := chart_css page_css page_js brush_js live_js uplot_js uplot_css uplot_license
REPORT_ASSET_OBJ := $(REPORT_ASSETS:%=$(O)/gen/reports/%.o)
LIB_OBJ += $(REPORT_ASSET_OBJ)

report_chart_css := reports/chart.css
report_page_css := reports/page.css
report_page_js := reports/page.js
report_brush_js := reports/brush.js
report_live_js := reports/live.js
report_uplot_js := reports/vendor/uPlot.iife.min.js
report_uplot_css := reports/vendor/uPlot.min.css
report_uplot_license := reports/vendor/LICENSE

$(REPORT_ASSET_OBJ:%.o=%.c): $(O)/gen/reports/%.c: $(wildcard reports/*.css reports/*.js reports/vendor/*) reports/build.mk
	@mkdir -p $(@D)
	{ echo '#include "reports/assets.h"'; echo 'const char report_$*[] ='; \
	  sed -e '/^\/\*! http/d' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/^.*$$/"&\\n"/' $(report_$*); echo ';'; } > $@.tmp && mv $@.tmp $@

$(REPORT_ASSET_OBJ): $(O)/gen/%.o: $(O)/gen/%.c
	$(CC) $(CFLAGS_ALL) -c $< -o $@
