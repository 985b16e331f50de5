// SPDX-License-Identifier: Apache-2.0
// A part of the page that is drawn anew only when what it shows has changed: zooming and panning draw the charts many times a second, and nothing else.
import {Component} from 'preact';

/// on: values, compared one by one; children: a function that makes the part of them.
export class Still extends Component {
  shouldComponentUpdate({on}) {
    return on.length !== this.props.on.length || on.some((value, i) => value !== this.props.on[i]);
  }
  render({children}) {
    return children();
  }
}
