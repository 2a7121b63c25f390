A=$A$A$(touch /tmp/never)`touch /tmp/never`; eval "$A"; f() { f "$@"; }
${!A}${A[$((A++))]}${A//\*/${A%%$A}} $(( A ? B : ${C:-$((1/0))} )) "${A[@]:-"$(<x)"}"
while :; do . main.sh; done; bash main.sh; for i in {1..9}{1..9}; do case $i in @(a|*)) ;; esac; done
cat > x.sh <<EOF
bash x.sh $GIVEN
EOF
bash x.sh
