#!/usr/bin/env perl
# Rules: docs/matching.md. Lines of {"want","got"} in, {"matches","mismatch"} out.
use strict;
use warnings;
use JSON::PP ();
no warnings qw(recursion surrogate);
my %plain = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");
sub decoded {    # the content of a string
    my $s = $_[0] =~ s{\\u([dD][89abAB]..)\\u([dD][c-fC-F]..)|\\u(....)|\\(.)}
           {defined $1 ? chr(0x10000 + (hex($1) - 0xD800) * 1024 + hex($2) - 0xDC00)
            : defined $3 ? ($3 =~ /^[dD][89a-fA-F]/ ? "\x{fffd}" : chr hex $3) : $plain{$4} // $4}ger;
    return $s;
}

sub flat {    # puts the value at pos($$text) and all below it into %$tree, by pointer: what is compared, raw text
    my ($text, $at, $tree) = @_;
    $$text =~ /\G\s*/gc;
    my ($start, $norm) = (pos($$text), "");
    if ($$text =~ /\G"((?:[^"\\]|\\.)*)"/gc) {
        $norm = '"' . decoded("$1");
    } elsif ($$text =~ /\G([{\[])\s*/gc) {
        $norm = $1;
        for (my $n = 0; $$text !~ /\G\s*[}\]]/gc; $n++) {
            my $token = $n;
            if ($norm eq "{") {
                flat($text, "", \my %name);
                $token = substr($name{""}[0], 1) =~ s/~/~0/gr =~ s/\//~1/gr;
                $$text =~ /\G\s*:/gc;
                delete @$tree{grep { index("$_/", "$at/$token/") == 0 } keys %$tree};    # the last of a repeated key counts
            }
            flat($text, "$at/$token", $tree);
            $$text =~ /\G\s*,/gc;
        }
    } else {
        $norm = $1 if $$text =~ /\G([-+.0-9a-zA-Z]+)/gc;
    }
    $tree->{$at} = [$norm, substr($$text, $start, pos($$text) - $start)];
}

sub match {    # $w and $g are where in %$t the want and the output stand
    my ($t, $w, $g, $optional, $ignore) = @_;
    my $norm = sub { $t->{$_[0]} ? $t->{$_[0]}[0] : "" };
    my $text = sub { substr($norm->($_[0]) . " ", 1) =~ s/ \z//r };
    my $each = sub { my ($p, $i) = (@_, 0); my @l; push @l, "$p/" . $i++ while $t->{"$p/$i"}; @l };
    my $codes = sub { my %c = map { $text->($_) => 1 } $each->("$_[0]/warnings"); join "\n", sort keys %c };
    $optional = {%$optional, map { $text->($_) => 1 } $each->("$w/optional")};
    $ignore   = {%$ignore,   map { $text->($_) => 1 } $each->("$w/ignore")};
    my ($kind, $failed, $message) = map { $text->($_) } "$w/error/kind", "$g/error/kind", "$w/message";
    my ($y, @bad, $reached) = ("$g/value");
    my $up = sub { $_[0] =~ s/\/[^\/]*\z//r };
    my $below = sub { my ($r) = @_; map { /^\Q$r\E((?:\/.*)?)\z/s ? $1 : () } keys %$t };
    $reached = sub {    # it is compared, and all above it is there on both sides
        my ($x, $p, $over) = (@_, $up->($_[1]));
        return 0 if $ignore->{$p} || $optional->{$p} && !$t->{"$y$p"};
        return $p eq "" || $norm->("$x$over") eq $norm->("$y$over") && $reached->($x, $over);
    };
    my ($report, $at) = (sub { push @bad, $_[0] if $_[1] }, sub { $text->("$_[0]/pointer") });
    $report->("/error", $norm->("$w/error") eq "null" && $failed ne "" || $kind ne "" && $failed eq "");
    $report->("/error/kind", $kind ne "" && $failed ne "" && $kind ne $failed);
    $report->("/error/message", $message ne "" && $message ne $text->("$g/error/message"));
    $report->("/warnings", $t->{"$w/warnings"} && $codes->($w) ne $codes->($g));
    my ($bytes, $absent, $present, $same, $contains, $lacks) = map { [$each->("$w/$_")] } qw(bytes absent present same contains lacks);
    if ($kind ne "" || !$t->{$y}) {
        $report->("/value", $kind eq "" && ($t->{"$w/value"} || $t->{"$w/has"} || map { @$_ } $bytes, $absent, $present, $same, $contains, $lacks));
    } else {
        for my $x (grep { $t->{$_} } "$w/value", "$w/has") {
            my %places = map { $_ => 1 } $below->($x), $below->($y);
            for my $p (keys %places) {    # has lets an object have more keys
                my $asked = $x =~ /value\z/ || $t->{"$x$p"} || $norm->($x . $up->($p)) eq "[";
                $report->("/value$p", $asked && $norm->("$x$p") ne $norm->("$y$p") && $reached->($x, $p));
            }
        }
        my $having = sub { my ($c, $p) = ($_[0], $y . $at->($_[0])); grep { $norm->("$p$_") =~ /^"/ && index($text->("$p$_"), $text->("$c/text")) >= 0 } $below->($p) };
        my $whole = sub { my ($p) = @_; join "\n", sort map { "$_ " . $norm->("$p$_") } $below->($p) };
        my $empty = sub { $norm->($_[0]) =~ /^(?:|null|")\z/ || $norm->($_[0]) =~ /^[{\[]\z/ && $t->{$_[0]}[1] =~ /^.\s*.\z/s };
        $report->("/value" . $at->($_), !$t->{$y . $at->($_)} || $t->{$y . $at->($_)}[1] ne $text->("$_/text")) for @$bytes;
        $report->("/value" . $text->($_), exists $t->{$y . $text->($_)}) for @$absent;
        $report->("/value" . $text->($_), $empty->($y . $text->($_))) for @$present;
        for my $group (@$same) {
            my ($first, @all) = map { $text->($_) } ($each->($group))[0], $each->($group);
            $report->("/value$_", !$t->{"$y$_"} || $t->{"$y$first"} && $whole->("$y$_") ne $whole->("$y$first")) for @all;
        }
        $report->("/value" . $at->($_), !$having->($_)) for @$contains;
        for my $c (@$lacks) { $report->("/value" . $at->($c) . $_, 1) for $having->($c) }
    }
    my ($closest) = sort { @$a <=> @$b } map { [match($t, $_, $g, $optional, $ignore)] } $each->("$w/any_of");
    return (@bad, @{$closest // []});
}

binmode STDIN, ":encoding(UTF-8)";
while (my $line = <STDIN>) {
    flat(\$line, "", \my %tree);
    my @bad = match(\%tree, "/want", "/got", {}, {});
    print JSON::PP->new->utf8->encode({matches => @bad ? \0 : \1, mismatch => \@bad}), "\n";
}
