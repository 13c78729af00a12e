# PostgreSQL's official image with simhash:
#
#     docker build -t simhash .
#
# and the image of the extension alone, for CloudNativePG:
#
#     docker build --target cloudnativepg -t simhash-extension .
#
ARG PG_MAJOR=18
ARG IMAGE=postgres:$PG_MAJOR

FROM $IMAGE AS build
ARG PG_MAJOR
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc make libc6-dev postgresql-server-dev-$PG_MAJOR libutf8proc-dev libxxhash-dev
COPY . /simhash
# The library has all of utf8proc and xxHash that it needs: both images then do
# without packages, and without a setting that says where a library is.
RUN make -C /simhash -j2 with_llvm=no DESTDIR=/installed \
	SHLIB_LINK='-Wl,-Bstatic -lutf8proc -Wl,-Bdynamic -Wl,--exclude-libs,ALL' install
RUN mkdir -p /extension/bin /extension/lib /extension/share/extension /extension/licenses && \
	cp /installed/usr/lib/postgresql/$PG_MAJOR/bin/simhash_explore /extension/bin && \
	cp /installed/usr/lib/postgresql/$PG_MAJOR/lib/simhash.so /extension/lib && \
	cp /installed/usr/share/postgresql/$PG_MAJOR/extension/simhash* /extension/share/extension && \
	for package in libutf8proc-dev libxxhash-dev; do \
		cp /usr/share/doc/$package/copyright /extension/licenses/$package || exit; \
	done && \
	cp /simhash/LICENSE /extension/licenses/simhash && \
	cp -r /extension/licenses /installed/usr/share/doc/simhash

FROM scratch AS cloudnativepg
COPY --from=build /extension/ /

FROM $IMAGE
COPY --from=build /installed/ /
